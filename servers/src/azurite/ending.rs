//! The ways a server of a test ends: as an operator stops it, as a failing
//! machine does, and when nobody needs it any more.

use std::fs;

use rustix::process::Signal;

use crate::problem::Outcome;
use crate::server;

use super::{Azurite, setup};

impl Azurite {
    /// Ends it as an operator does: it writes what it has to its disk. Stopping
    /// one that does not run does nothing.
    ///
    /// # Errors
    /// If it does not end, even when killed.
    pub fn stop(&self) -> Outcome {
        server::end(&setup::KIND, &self.site.directory)?;
        self.bury();
        Ok(())
    }

    /// Ends it at once, without a last word to anybody but what the system
    /// tells the clients: their connections are reset or closed.
    ///
    /// # Errors
    /// If it outlives that.
    pub fn kill(&self) -> Outcome {
        server::end_by(&setup::KIND, &self.site.directory, &[Signal::KILL])?;
        self.bury();
        Ok(())
    }

    fn bury(&self) {
        if let Some(mut child) = self.child().take() {
            // It has ended; the system is only told that nobody will ask.
            let _ = child.wait();
        }
    }
}

/// Ends the server and removes its data.
impl Drop for Azurite {
    fn drop(&mut self) {
        // What does not end is left to the guard of this process.
        if self.kill().is_ok() {
            let _ = fs::remove_dir_all(&self.site.directory);
        }
    }
}
