//! Starting a server and waiting until it is ready, and ending whatever of it
//! is left, each within a limit.

use std::fs::{self, File};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Child;
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::files;
use crate::outcome::{Failure, Outcome};
use crate::services::list::Service;
use crate::services::progress;

use super::process::Process;
use super::site::Site;

/// How long a server may take to be ready, with a log to replay.
const READY: Duration = Duration::from_secs(60);

/// How long a server may take to end when told, and when killed.
const QUIT: Duration = Duration::from_secs(10);

/// How much of a log the operator sees when a server does not start.
const TAIL: usize = 15;

/// Starts a server that outlives this process, and waits until it is ready.
pub(crate) fn start(service: &Service, site: &Site<'_>) -> Outcome<Process> {
    let what = format!("{}: starting on port {}", service.name, site.port);
    progress::step(&what, READY, || {
        let mut child = spawn(service, site)?;
        wait_until_ready(service, site, &mut child)
    })
}

fn spawn(service: &Service, site: &Site<'_>) -> Outcome<Child> {
    let log = open_log(site)?;
    let mut command = (service.command)(site)?;
    command
        .current_dir(&site.directory)
        // Ctrl-C in the terminal of `up` is not for the server.
        .process_group(0)
        .stdout(
            log.try_clone()
                .map_err(|error| files::unusable(&site.log(), &error))?,
        )
        .stderr(log);
    command.spawn().map_err(|error| {
        Failure::failed(format!(
            "`{}` could not be started ({error}); check that it is installed whole.",
            service.program
        ))
    })
}

fn wait_until_ready(service: &Service, site: &Site<'_>, child: &mut Child) -> Outcome<Process> {
    let deadline = Instant::now() + READY;
    while Instant::now() < deadline {
        // Asked in this order: a stranger may be ready on a port that ours did not get.
        let ready = (service.ready)(site.port);
        if !matches!(child.try_wait(), Ok(None)) {
            return Err(gave_up(service, site, "ended at once"));
        }
        match Process::with(child.id()) {
            Some(process) if ready => return Ok(process),
            _ => sleep(Duration::from_millis(20)),
        }
    }
    end(service, &site.directory)?;
    Err(gave_up(
        service,
        site,
        "was not ready in time and was ended",
    ))
}

/// Ends all processes of the service that work in its directory: politely
/// first, so that the server takes its children with it. A server that was
/// killed may have left them.
pub(crate) fn end(service: &Service, directory: &Path) -> Outcome {
    for (signal, limit) in [(service.quit, QUIT), ("KILL", QUIT)] {
        let left = Process::all_in(directory, service.program);
        for process in &left {
            process.signal(signal);
            // One that is stopped does not hear the signal before it goes on.
            process.signal("CONT");
        }
        let deadline = Instant::now() + limit;
        let rest = || deadline.saturating_duration_since(Instant::now());
        if left.iter().all(|process| process.gone_within(rest())) {
            return Ok(());
        }
    }
    Err(Failure::failed(format!(
        "{} in {} does not end, even when killed; look what it does with `ps`.",
        service.name,
        directory.display()
    )))
}

fn gave_up(service: &Service, site: &Site<'_>, how: &str) -> Failure {
    Failure::failed(format!(
        "{} {how}; the end of its log says why:\n{}",
        service.name,
        tail(&site.log())
    ))
}

/// The log of the site, to be written at its end.
pub(crate) fn open_log(site: &Site<'_>) -> Outcome<File> {
    let path = site.log();
    let log = File::options().create(true).append(true).open(&path);
    log.map_err(|error| files::unusable(&path, &error))
}

/// The last lines of a log.
pub(crate) fn tail(log: &Path) -> String {
    let text = fs::read(log).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let lines: Vec<&str> = text.lines().collect();
    let last = lines.len().saturating_sub(TAIL);
    lines.get(last..).unwrap_or_default().join("\n")
}
