//! The nodes of a demo: this very program, some times. None outlives the demo, whatever becomes of that: each ends
//! with the pipe that is its standard input, and the other end of it is here.

use super::place::Place;
use crate::{
    client::Node,
    exit::{self, End, Ended},
};
use std::{
    fs::File,
    io,
    path::PathBuf,
    process::{Command as Plain, Stdio},
    time::Duration,
};
use tokio::{
    io::{AsyncBufReadExt, BufReader},
    process::{Child, Command},
    time::timeout,
};

/// Longer than a node takes to be ready on a busy machine.
const PATIENCE: Duration = Duration::from_secs(30);

/// One node.
#[derive(Debug)]
pub(super) struct Member {
    /// What it is called here: a letter.
    pub(super) name: String,
    pub(super) url: String,
    /// Its process, unless it was killed.
    child: Option<Child>,
    pub(super) pid: u32,
}

/// All of them. Dropped, they are killed.
#[derive(Debug, Default)]
pub(super) struct Fleet {
    pub(super) members: Vec<Member>,
}

impl Fleet {
    /// Starts one more, and waits until it is ready.
    pub(super) async fn add(&mut self, place: &Place, run: &str) -> Ended<&Member> {
        let name = char::from_u32(u32::from('a') + self.count())
            .unwrap_or('z')
            .to_string();
        let log = place.dir.join(format!("node-{name}.log"));
        let mut child = start(place, &format!("demo-{run}-{name}"), &log).map_err(|error| {
            End::new(exit::SYSTEM, format!("a node cannot be started: {error}"))
        })?;
        let pid = child.id().unwrap_or_default();
        let url = match timeout(PATIENCE, address(&mut child)).await {
            Ok(Some(url)) => url,
            _ => return Err(not_ready(&name, &log)),
        };
        let member = Member {
            name,
            url,
            child: Some(child),
            pid,
        };
        self.members.push(member);
        Ok(&self.members[self.members.len() - 1])
    }

    fn count(&self) -> u32 {
        u32::try_from(self.members.len()).unwrap_or(u32::MAX)
    }

    /// Kills a node as a power cut would: it is told nothing.
    pub(super) async fn kill(&mut self, number: usize) {
        if let Some(mut child) = self.members[number].child.take() {
            // An error says that it is dead already.
            let _ = child.kill().await;
        }
    }

    /// Those that live, beginning with the one after `number`.
    pub(super) fn living(&self, number: usize) -> Ended<Vec<Node>> {
        let count = self.members.len();
        let all = (0..count).map(|step| &self.members[(number + step) % count]);
        let living = all.filter(|member| member.child.is_some());
        living.map(|member| Node::at(&member.url)).collect()
    }

    /// Ends all, and waits until they are gone.
    pub(super) async fn end(&mut self) {
        for number in 0..self.members.len() {
            self.kill(number).await;
        }
    }
}

/// By the environment, for a URL may have a password in it, and everybody can read the arguments of a process.
fn start(place: &Place, name: &str, log: &PathBuf) -> io::Result<Child> {
    let mut command = program()?;
    for (variable, _) in std::env::vars_os() {
        if variable.to_string_lossy().starts_with("LOCKWORK_") {
            command.env_remove(variable);
        }
    }
    if let Some(locks) = &place.locks {
        command.env("LOCKWORK_LOCKS", locks);
    }
    command
        .args(["--listen", "127.0.0.1:0", "--node", name])
        .args(["--allow-local-locks", "--until-stdin-ends"])
        .env("LOCKWORK_STORE", &place.store)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(File::create(log)?);
    Command::from(command).kill_on_drop(true).spawn()
}

/// In a group of its own, so that Ctrl-C is for the demo alone.
#[cfg(unix)]
fn program() -> io::Result<Plain> {
    crate::exec::this_program("serve")
}

#[cfg(not(unix))]
fn program() -> io::Result<Plain> {
    let mut command = Plain::new(std::env::current_exe()?);
    command.arg("serve");
    Ok(command)
}

/// Where it is, once it has said everything that a node says when it is ready.
async fn address(child: &mut Child) -> Option<String> {
    let mut lines = BufReader::new(child.stdout.take()?).lines();
    let mut address = None;
    while let Some(line) = lines.next_line().await.ok()? {
        if let Some(rest) = line.strip_prefix("API") {
            address = rest.split_whitespace().next().map(str::to_owned);
        }
        if line.starts_with("Try") {
            return address;
        }
    }
    None
}

/// With what it said last.
fn not_ready(name: &str, log: &PathBuf) -> End {
    let said = std::fs::read_to_string(log).unwrap_or_default();
    let last = said.lines().last().unwrap_or("it said nothing");
    let last = last.trim_start_matches("lockwork: ");
    End::new(
        exit::UNAVAILABLE,
        format!("node {name} is not ready: {last}"),
    )
}
