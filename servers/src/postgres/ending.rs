//! The ways a server of a test ends: as an operator stops it, as a failing
//! machine does, and when nobody needs it any more.

use std::fs;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::Signal;

use crate::problem::{Outcome, Problem};
use crate::process::Process;
use crate::server;

use super::{Postgres, setup};

/// How long a server may take to end in order.
const STOP: Duration = Duration::from_secs(10);

/// How long the system may take to bury who was killed.
const KILL: Duration = Duration::from_secs(5);

impl Postgres {
    /// Ends it as an operator does: clients are told, and everything is on
    /// disk. Stopping one that does not run does nothing.
    ///
    /// # Errors
    /// If it does not end, even when killed.
    pub fn stop(&self) -> Outcome {
        if let Some(first) = self.pid().and_then(Process::with) {
            // "Fast Shutdown": PostgreSQL manual, 19.5.
            first.signal(Signal::INT);
            first.gone_within(STOP);
        }
        server::end(&setup::KIND, &self.site.directory)?;
        self.bury();
        Ok(())
    }

    /// Ends all its processes at once, without a last word to anybody but what
    /// the system tells the clients: their connections are reset or closed.
    ///
    /// # Errors
    /// If a process outlives that.
    pub fn kill(&self) -> Outcome {
        let shared_memory = self.shared_memory();
        // The first one first: it starts no others any more.
        if let Some(first) = self.pid().and_then(Process::with) {
            first.signal(Signal::KILL);
        }
        let deadline = Instant::now() + KILL;
        loop {
            let left = Process::all_in(&self.site.directory, setup::KIND.program);
            if left.is_empty() {
                break;
            }
            if Instant::now() >= deadline {
                return Err(Problem::new("A killed postgres did not end; see `ps`."));
            }
            left.iter().for_each(|process| process.signal(Signal::KILL));
        }
        self.bury();
        shared_memory.inspect(|id| forget_memory(id));
        Ok(())
    }

    /// The number of its segment of shared memory, which it cannot remove when
    /// it is killed: the second word in line 7 of `postmaster.pid`.
    fn shared_memory(&self) -> Option<String> {
        let file = self.data().join("postmaster.pid");
        let text = fs::read_to_string(file).ok()?;
        let id = text.lines().nth(6)?.split_whitespace().nth(1)?;
        Some(id.to_owned())
    }

    fn bury(&self) {
        if let Some(mut child) = self.child().take() {
            // It has ended; the system is only told that nobody will ask.
            let _ = child.wait();
        }
    }
}

/// Without `ipcrm` a few bytes stay until the machine restarts.
fn forget_memory(id: &str) {
    let mut ipcrm = Command::new("ipcrm");
    ipcrm.args(["-m", id]).stderr(Stdio::null());
    let _ = ipcrm.status();
}

/// Ends the server and removes its data.
impl Drop for Postgres {
    fn drop(&mut self) {
        // What does not end is left to the guard of this process.
        if server::end(&setup::KIND, &self.site.directory).is_ok() {
            self.bury();
            let _ = fs::remove_dir_all(&self.site.directory);
        }
    }
}
