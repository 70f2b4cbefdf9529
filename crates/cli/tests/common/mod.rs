//! Running the command in tests: always with a limit, never leaving anything behind.

#![allow(dead_code)] // each test file uses its part

pub(crate) mod node;

use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};
use std::{
    path::Path,
    process::{Child, Command, ExitStatus, Output, Stdio},
    sync::mpsc,
    thread,
    time::{Duration, Instant},
};

/// Nothing here takes longer, however busy the machine is.
pub(crate) const LIMIT: Duration = Duration::from_secs(20);

/// `lockwork` with these words as arguments, on locks of its own.
pub(crate) fn lockwork(words: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_lockwork"));
    command
        .args(words)
        .env("LOCKWORK_URL", "memory:")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

/// `lockwork exec` of a shell script.
pub(crate) fn script(options: &[&str], script: &str) -> Command {
    let words = ["exec"].iter().chain(options);
    let words: Vec<_> = words
        .chain(&["n", "--", "sh", "-c", script])
        .copied()
        .collect();
    lockwork(&words)
}

/// What came of it.
pub(crate) fn done(command: &mut Command) -> Output {
    wait(command.spawn().expect("it starts"))
}

/// What came of it, and of nothing else on standard error than `memory:` being what it is.
pub(crate) fn wait(child: Child) -> Output {
    let pid = pid(&child);
    let (send, receive) = mpsc::channel();
    let waiting = thread::spawn(move || send.send(child.wait_with_output()));
    let output = receive.recv_timeout(LIMIT).unwrap_or_else(|_| {
        let _ = kill(pid, Signal::SIGKILL);
        panic!("it did not end within {LIMIT:?}")
    });
    let _ = waiting.join();
    output.expect("its output can be read")
}

pub(crate) fn pid(child: &Child) -> Pid {
    Pid::from_raw(i32::try_from(child.id()).expect("a process id"))
}

pub(crate) fn send(child: &Child, signal: Signal) {
    kill(pid(child), signal).expect("it can be signalled");
}

pub(crate) fn code(status: ExitStatus) -> i32 {
    status.code().expect("it ended by itself")
}

pub(crate) fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Waits until `fact` is true, and says how long that took.
pub(crate) fn becomes(what: &str, fact: impl Fn() -> bool) -> Duration {
    let start = Instant::now();
    while !fact() {
        assert!(start.elapsed() < LIMIT, "not within {LIMIT:?}: {what}");
        thread::sleep(Duration::from_millis(1));
    }
    start.elapsed()
}

/// Waits for a whole line in `file` and reads it.
pub(crate) fn line(file: &Path) -> String {
    let read = || std::fs::read_to_string(file).unwrap_or_default();
    becomes("there is a line", || read().contains('\n'));
    read().lines().next().unwrap_or_default().to_owned()
}

/// Waits for a number in `file`: a process told who it is.
pub(crate) fn number(file: &Path) -> Pid {
    Pid::from_raw(line(file).trim().parse().expect("a number"))
}

/// Who is in `group` and alive.
pub(crate) fn members(group: Pid) -> Vec<i32> {
    let Ok(all) = std::fs::read_dir("/proc") else {
        return Vec::new();
    };
    let names = all
        .flatten()
        .filter_map(|entry| entry.file_name().into_string().ok());
    names
        .filter_map(|name| name.parse().ok())
        .filter(|pid| group_of(*pid) == Some(group))
        .collect()
}

/// Whether `pid` is alive: one that nobody has reaped yet is not.
pub(crate) fn is_alive(pid: Pid) -> bool {
    group_of(pid.as_raw()).is_some()
}

/// Whether `pid` is frozen.
pub(crate) fn is_stopped(pid: Pid) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat"));
    stat.is_ok_and(|stat| stat.contains(") T "))
}

/// The group of a process that is alive. See `proc_pid_stat(5)`: the state, the parent, the group.
fn group_of(pid: i32) -> Option<Pid> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let fields = stat.rsplit(')').next()?;
    match fields.split_whitespace().collect::<Vec<_>>()[..] {
        ["Z" | "X", ..] => None,
        [_, _, group, ..] => group.parse().ok().map(Pid::from_raw),
        _ => None,
    }
}
