//! Other processes: what two of them do to each other cannot be measured in one.
//!
//! The program runs itself again with a hidden first argument that names a *role*, and talks with
//! it through its standard input and output, eight bytes at a time.

use crate::{
    cell::Outcome,
    cells::{self, Role},
};
use std::{
    fs::File,
    io::{self, Read, Write},
    os::fd::{AsFd, OwnedFd},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};

/// `lockwork-bench --role ROLE DIRECTORY`: for this program only.
const HIDDEN: &str = "--role";

/// Plays the role that the command line names, if it names one.
pub(crate) fn role(words: &[String]) -> Option<Outcome<()>> {
    let (HIDDEN, [name, directory]) = (words.first()?.as_str(), words.get(1..)?) else {
        return None;
    };
    let role = cells::roles().find(|role| role.name == name);
    let role = role.ok_or_else(|| format!("there is no role `{name}`").into());
    Some(role.and_then(|role: Role| (role.play)(Path::new(directory), Line::of_child()?)))
}

/// A program that is built together with this one.
pub(crate) fn program(name: &str) -> io::Result<PathBuf> {
    let this = std::env::current_exe()?;
    let beside = this.parent().unwrap_or(&this);
    // Test programs lie one directory deeper.
    let beside = match beside.ends_with("deps") {
        true => beside.parent().unwrap_or(beside),
        false => beside,
    };
    Ok(beside.join(name))
}

/// Two processes' way to talk, seen from one of them.
#[derive(Debug)]
pub(crate) struct Line {
    pub(crate) from: File,
    pub(crate) to: File,
}

impl Line {
    /// From the child to whoever started it.
    fn of_child() -> io::Result<Self> {
        Ok(Self {
            from: File::from(io::stdin().as_fd().try_clone_to_owned()?),
            to: File::from(io::stdout().as_fd().try_clone_to_owned()?),
        })
    }

    pub(crate) fn say(&mut self, number: u64) -> io::Result<()> {
        self.to.write_all(&number.to_le_bytes())
    }

    /// Waits for a number.
    pub(crate) fn hear(&mut self) -> io::Result<u64> {
        let mut bytes = [0; 8];
        self.from.read_exact(&mut bytes)?;
        Ok(u64::from_le_bytes(bytes))
    }
}

/// Another process, which ends when this is dropped.
#[derive(Debug)]
pub(crate) struct Other {
    child: Child,
}

impl Other {
    /// Starts a process that plays `role` with `directory`.
    pub(crate) fn start(role: &str, directory: &Path) -> Outcome<(Self, Line)> {
        let program = program("lockwork-bench")?;
        let mut child = Command::new(&program)
            .args([HIDDEN, role])
            .arg(directory)
            // What it has to leave somewhere for a while belongs there too.
            .env("TMPDIR", directory)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| format!("{} could not be started: {error}", program.display()))?;
        let (Some(to), Some(from)) = (child.stdin.take(), child.stdout.take()) else {
            return Err("a child has the pipes it was given".into());
        };
        let line = Line {
            from: OwnedFd::from(from).into(),
            to: OwnedFd::from(to).into(),
        };
        Ok((Self { child }, line))
    }

    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }
}

impl Drop for Other {
    fn drop(&mut self) {
        // Refused only for one that has ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
