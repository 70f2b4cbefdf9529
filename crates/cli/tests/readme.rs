//! What the README shows is what happens: every command line of it is run, in order, in an empty directory.
#![cfg(unix)]
#![expect(
    clippy::unwrap_used,
    reason = "a test that has not what it needs has failed"
)]

use std::{
    fmt::Write as _,
    fs::{self, Permissions},
    io::{BufRead, BufReader, Write},
    os::unix::{fs::PermissionsExt, process::CommandExt},
    path::Path,
    process::{Child, ChildStdin, Command, Stdio},
    sync::mpsc::{self, Receiver, RecvTimeoutError},
    thread,
    time::{Duration, Instant},
};

const README: &str = include_str!("../README-of-all.md");

/// Longer than any line of it takes on a busy machine.
const LIMIT: Duration = Duration::from_secs(60);

/// What stands for anything.
const ANYTHING: char = '…';

/// Where the README says that its node is.
const SHOWN: &str = "127.0.0.1:8600";

/// Where it is here: somebody may have a node on this machine, or run these tests a second time. So it is at an address of
/// this process, where a machine has many, of the same width as the one that is shown.
fn address() -> String {
    let own = std::process::id();
    let digit = |place: u32, of: u32| own / place % of;
    match cfg!(target_os = "linux") {
        true => format!(
            "127.{}.{}.{}:8600",
            1 + digit(1, 9),
            digit(9, 10),
            digit(90, 10)
        ),
        false => SHOWN.to_owned(),
    }
}

/// A line of the README as it is here: what is to be tried names a node that is elsewhere.
fn here(line: &str) -> String {
    let address = address();
    match line.starts_with("Try") && address != SHOWN {
        true => line.replace("run", &format!("run --node http://{address}")),
        false => line.replace(SHOWN, &address),
    }
}

/// The command as it is here: nothing but where it listens, and whom it asks, is another's.
fn command(directory: &Path) {
    let script = format!(
        "#!/bin/sh\nexport LOCKWORK_NODE_URL=http://{address}\n\
         if [ \"$1\" = dev ]; then set -- \"$@\" --listen {address}; fi\nexec {program} \"$@\"\n",
        address = address(),
        program = env!("CARGO_BIN_EXE_lockwork"),
    );
    let file = directory.join("lockwork");
    fs::write(&file, script).unwrap();
    fs::set_permissions(&file, Permissions::from_mode(0o755)).unwrap();
}

/// A command line, and what the README says that it prints.
#[derive(Debug, PartialEq)]
struct Shown {
    command: &'static str,
    prints: Vec<&'static str>,
}

/// All of them, from blocks that are a session in a terminal.
fn shown() -> Vec<Shown> {
    let mut all: Vec<Shown> = Vec::new();
    let mut inside = false;
    for line in README.lines() {
        match (line, inside) {
            ("```console", _) => inside = true,
            ("```", _) => inside = false,
            (line, true) => match (line.strip_prefix("$ "), all.last_mut()) {
                (Some(command), _) => all.push(Shown {
                    command,
                    prints: Vec::new(),
                }),
                (None, Some(last)) => last.prints.push(line),
                (None, None) => panic!("`{line}` follows no command"),
            },
            _ => {}
        }
    }
    all
}

/// Whether a line is as the README shows it.
fn is_like(line: &str, shown: &str) -> bool {
    let mut parts = shown.split(ANYTHING);
    let Some(mut rest) = line.strip_prefix(parts.next().unwrap_or_default()) else {
        return false;
    };
    let mut last = None;
    for part in parts {
        let Some(at) = rest.find(part) else {
            return false;
        };
        rest = &rest[at + part.len()..];
        last = Some(part);
    }
    // After the last one there may be anything, if it says so.
    rest.is_empty() || last == Some("")
}

/// A shell, and what it and all it starts have printed.
struct Shell {
    child: Child,
    orders: ChildStdin,
    lines: Receiver<String>,
    printed: String,
}

impl Shell {
    fn new(directory: &Path, program: &Path) -> Self {
        command(program);
        let path = std::env::var("PATH").unwrap();
        let mut command = Command::new("bash");
        command
            .args(["--norc", "--noprofile"])
            .current_dir(directory)
            .env("PATH", format!("{}:{path}", program.display()))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped());
        for (name, _) in std::env::vars_os() {
            if name.to_string_lossy().starts_with("LOCKWORK_") {
                command.env_remove(name);
            }
        }
        // A group of its own, so that all of it ends with the test.
        let mut child = command.process_group(0).spawn().unwrap();
        let mut orders = child.stdin.take().unwrap();
        // Jobs have numbers, as at a terminal.
        orders.write_all(b"exec 2>&1\nset -m\n").unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        let (tell, lines) = mpsc::channel();
        thread::spawn(move || {
            let lines = output.lines().map_while(Result::ok);
            lines.map(|line| tell.send(line)).find(Result::is_err)
        });
        Self {
            child,
            orders,
            lines,
            printed: String::new(),
        }
    }

    /// Runs a line and waits until it has printed what the README shows, and is over, and went well.
    fn run(&mut self, shown: &Shown, number: usize) {
        let over = format!("over: {number}, ");
        writeln!(self.orders, "{}\necho \"{over}$?\"", shown.command).unwrap();
        let mut wanted = shown.prints.iter().map(|line| here(line)).peekable();
        let (mut code, until) = (None, Instant::now() + LIMIT);
        while code.is_none() || wanted.peek().is_some() {
            let line = self.line(until, shown, wanted.peek());
            code = line.strip_prefix(&over).map(str::to_owned).or(code);
            if wanted.peek().is_some_and(|wanted| is_like(&line, wanted)) {
                wanted.next();
            }
        }
        assert_eq!(code.as_deref(), Some("0"), "{}", self.printed);
    }

    fn line(&mut self, until: Instant, shown: &Shown, wanted: Option<&String>) -> String {
        let left = until.saturating_duration_since(Instant::now());
        let why = match self.lines.recv_timeout(left) {
            Ok(line) => {
                let _ = writeln!(self.printed, "{line}");
                return line;
            }
            Err(RecvTimeoutError::Timeout) => format!("not within {LIMIT:?}"),
            Err(RecvTimeoutError::Disconnected) => "never, the shell has ended".to_owned(),
        };
        panic!(
            "`{}` prints {wanted:?}: {why}, but so far:\n{}",
            shown.command, self.printed
        )
    }
}

impl Drop for Shell {
    fn drop(&mut self) {
        let group = i32::try_from(self.child.id()).unwrap();
        // Jobs are groups of their own, and a shell that ends tells them.
        let _ = writeln!(self.orders, "kill -9 $(jobs -p); exit");
        let _ = self.child.wait();
        let group = nix::unistd::Pid::from_raw(group);
        let _ = nix::sys::signal::killpg(group, nix::sys::signal::Signal::SIGKILL);
    }
}

#[test]
fn every_command_line_of_the_readme_prints_what_it_shows() {
    let directory = tempfile::tempdir().unwrap();
    let program = tempfile::tempdir().unwrap();
    let (all, mut shell) = (shown(), Shell::new(directory.path(), program.path()));
    assert!(all.len() > 10, "{all:?}");
    for (number, shown) in all.iter().enumerate() {
        shell.run(shown, number);
    }
}

#[test]
fn a_line_is_like_another_if_it_differs_only_where_anything_may_stand() {
    for (line, shown) in [
        ("node node-7f3a", "node node-…"),
        ("   0.001s  started", "   …  started"),
        ("a b c", "a … c"),
        ("", "…"),
        ("x  order  y", "…  order …"),
    ] {
        assert!(is_like(line, shown), "{line:?} {shown:?}");
    }
    for (line, shown) in [("a b", "a"), ("a", "a b"), ("a b d", "a … c"), ("xa", "a…")] {
        assert!(!is_like(line, shown), "{line:?} {shown:?}");
    }
}
