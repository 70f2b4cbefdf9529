//! Freezing a server of a test, and letting it go on.

use crate::freezing;
use crate::problem::Outcome;
use crate::process::Process;

use super::{Postgres, setup};

impl Postgres {
    /// Stops all its processes. The system still accepts connections for it,
    /// and acknowledges what clients send.
    ///
    /// # Errors
    /// If a process does not stop.
    pub fn freeze(&self) -> Outcome {
        let first = self.pid().and_then(Process::with);
        freezing::freeze(&setup::KIND, &self.site.directory, first)
    }

    /// Lets all its processes go on.
    pub fn thaw(&self) {
        freezing::thaw(&setup::KIND, &self.site.directory);
    }
}
