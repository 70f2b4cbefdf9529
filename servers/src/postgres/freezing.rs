//! Stopping all processes of a server where they are, and letting them go on:
//! a machine that is out of breath, or was suspended.

use std::thread::sleep;
use std::time::{Duration, Instant};

use rustix::process::Signal;

use crate::problem::{Outcome, Problem};
use crate::process::Process;

use super::{Postgres, setup};

/// How long the system may take to stop them.
const LIMIT: Duration = Duration::from_secs(5);

impl Postgres {
    /// Stops all its processes. The system still accepts connections for it,
    /// and acknowledges what clients send.
    ///
    /// # Errors
    /// If a process does not stop.
    pub fn freeze(&self) -> Outcome {
        // The first one first: it starts no others any more.
        if let Some(first) = self.pid().and_then(Process::with) {
            first.signal(Signal::STOP);
            until(|| first.is_stopped())?;
        }
        until(|| {
            let all = self.processes();
            let mut moving = all.iter().filter(|process| !process.is_stopped());
            let still = moving
                .by_ref()
                .inspect(|process| process.signal(Signal::STOP));
            still.count() == 0
        })
    }

    /// Lets all its processes go on.
    pub fn thaw(&self) {
        for process in self.processes() {
            process.signal(Signal::CONT);
        }
    }

    fn processes(&self) -> Vec<Process> {
        Process::all_in(&self.site.directory, setup::KIND.program)
    }
}

fn until(mut done: impl FnMut() -> bool) -> Outcome {
    let deadline = Instant::now() + LIMIT;
    while !done() {
        if Instant::now() >= deadline {
            return Err(Problem::new("A process of postgres did not stop."));
        }
        sleep(Duration::from_millis(1));
    }
    Ok(())
}
