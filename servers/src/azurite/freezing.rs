//! Freezing a server of a test, and letting it go on.

use crate::freezing;
use crate::problem::Outcome;
use crate::process::Process;

use super::{Azurite, setup};

impl Azurite {
    /// Stops it where it is. The system still accepts connections for it, and
    /// acknowledges what clients send.
    ///
    /// # Errors
    /// If it does not stop.
    pub fn freeze(&self) -> Outcome {
        let first = self.pid().and_then(Process::with);
        freezing::freeze(&setup::KIND, &self.site.directory, first)
    }

    /// Lets it go on.
    pub fn thaw(&self) {
        freezing::thaw(&setup::KIND, &self.site.directory);
    }
}
