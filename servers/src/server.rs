//! Starting a server and waiting until it is ready, and ending whatever of it
//! is left, each within a limit.

use std::fs::{self, File};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command};
use std::thread::sleep;
use std::time::{Duration, Instant};

use rustix::process::Signal;

use crate::problem::{Outcome, Problem, unusable};
use crate::process::Process;
use crate::site::Site;

/// How long a server may take to be ready, with a log to replay.
pub const READY: Duration = Duration::from_secs(60);

/// How long a server may take to end when told, and when killed.
const QUIT: Duration = Duration::from_secs(10);

/// How much of a log the operator sees when a server does not start.
const TAIL: usize = 15;

/// What there is to know of a kind of server to start it and to end it.
#[derive(Clone, Copy, Debug)]
pub struct Kind {
    /// The program, which is also what the system calls its processes.
    pub program: &'static str,
    /// Whether what listens on the port is ready for clients.
    pub ready: fn(u16) -> bool,
    /// The signal on which it ends at once; its data is about to be removed.
    pub(crate) quit: Signal,
}

/// Starts a server that outlives this process, and waits until it is ready.
///
/// # Errors
/// If it ends at once or is not ready in time.
pub fn start(kind: &Kind, site: &Site, command: Command) -> Outcome<Process> {
    start_child(kind, site, command).map(|(_, process)| process)
}

/// The same for who waits for its end as well.
pub(crate) fn start_child(kind: &Kind, site: &Site, command: Command) -> Outcome<(Child, Process)> {
    start_child_until(kind, site, command, || (kind.ready)(site.port))
}

/// The same for a server that is asked in another way whether it is ready.
pub(crate) fn start_child_until(
    kind: &Kind,
    site: &Site,
    command: Command,
    ready: impl Fn() -> bool,
) -> Outcome<(Child, Process)> {
    let mut command = with_log(site, command)?;
    let mut child = command.spawn().map_err(|error| {
        Problem::new(format!(
            "`{}` could not be started ({error}); check that it is installed whole.",
            kind.program
        ))
    })?;
    let process = wait_until_ready(kind, site, &mut child, ready)?;
    Ok((child, process))
}

fn with_log(site: &Site, mut command: Command) -> Outcome<Command> {
    let log = open_log(site)?;
    command
        .current_dir(&site.directory)
        // Ctrl-C in the terminal of `up` is not for the server.
        .process_group(0)
        .stdout(
            log.try_clone()
                .map_err(|error| unusable(&site.log(), &error))?,
        )
        .stderr(log);
    Ok(command)
}

fn wait_until_ready(
    kind: &Kind,
    site: &Site,
    child: &mut Child,
    ready: impl Fn() -> bool,
) -> Outcome<Process> {
    let deadline = Instant::now() + READY;
    while Instant::now() < deadline {
        // Asked in this order: a stranger may be ready on a port that ours did not get.
        let ready = ready();
        if !matches!(child.try_wait(), Ok(None)) {
            return Err(gave_up(kind, site, "ended at once"));
        }
        match Process::with(child.id()) {
            Some(process) if ready => return Ok(process),
            _ => sleep(Duration::from_millis(20)),
        }
    }
    end(kind, &site.directory)?;
    Err(gave_up(kind, site, "was not ready in time and was ended"))
}

/// Ends all processes of the kind that work in the directory: politely first,
/// so that the server takes its children with it. A server that was killed may
/// have left them.
///
/// # Errors
/// If one does not end even when killed.
pub fn end(kind: &Kind, directory: &Path) -> Outcome {
    end_by(kind, directory, &[kind.quit, Signal::KILL])
}

/// The same with other signals, one after the other until all have ended.
pub(crate) fn end_by(kind: &Kind, directory: &Path, signals: &[Signal]) -> Outcome {
    for signal in signals {
        let left = Process::all_in(directory, kind.program);
        for process in &left {
            process.signal(*signal);
            // One that is stopped does not hear the signal before it goes on.
            process.signal(Signal::CONT);
        }
        let deadline = Instant::now() + QUIT;
        let rest = || deadline.saturating_duration_since(Instant::now());
        if left.iter().all(|process| process.gone_within(rest())) {
            return Ok(());
        }
    }
    Err(Problem::new(format!(
        "{} in {} does not end, even when killed; look what it does with `ps`.",
        kind.program,
        directory.display()
    )))
}

fn gave_up(kind: &Kind, site: &Site, how: &str) -> Problem {
    Problem::new(format!(
        "{} {how}; the end of its log says why:\n{}",
        kind.program,
        tail(&site.log())
    ))
}

/// The log of the site, to be written at its end.
pub(crate) fn open_log(site: &Site) -> Outcome<File> {
    let path = site.log();
    let log = File::options().create(true).append(true).open(&path);
    log.map_err(|error| unusable(&path, &error))
}

/// The last lines of a log.
pub(crate) fn tail(log: &Path) -> String {
    let text = fs::read(log).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let lines: Vec<&str> = text.lines().collect();
    let last = lines.len().saturating_sub(TAIL);
    lines.get(last..).unwrap_or_default().join("\n")
}
