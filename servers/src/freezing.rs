//! Stopping all processes of a server where they are, and letting them go on,
//! for tests of what clients do meanwhile: a machine that is out of breath, or
//! was suspended.

use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant};

use rustix::process::Signal;

use crate::problem::{Outcome, Problem};
use crate::process::Process;
use crate::server::Kind;

/// How long the system may take to stop them.
const LIMIT: Duration = Duration::from_secs(5);

/// Stops all processes of the kind that work in the directory.
pub(crate) fn freeze(kind: &Kind, directory: &Path, first: Option<Process>) -> Outcome {
    // The first one first: it starts no others any more.
    if let Some(first) = first {
        first.signal(Signal::STOP);
        until(kind, || first.is_stopped())?;
    }
    until(kind, || {
        let all = Process::all_in(directory, kind.program);
        let mut moving = all.iter().filter(|process| !process.is_stopped());
        let still = moving
            .by_ref()
            .inspect(|process| process.signal(Signal::STOP));
        still.count() == 0
    })
}

/// Lets them all go on.
pub(crate) fn thaw(kind: &Kind, directory: &Path) {
    for process in Process::all_in(directory, kind.program) {
        process.signal(Signal::CONT);
    }
}

fn until(kind: &Kind, mut done: impl FnMut() -> bool) -> Outcome {
    let deadline = Instant::now() + LIMIT;
    while !done() {
        if Instant::now() >= deadline {
            return Err(Problem::new(format!(
                "A process of {} did not stop; look what it does with `ps`.",
                kind.program
            )));
        }
        sleep(Duration::from_millis(1));
    }
    Ok(())
}
