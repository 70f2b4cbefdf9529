//! How a directory of locks is used.

use crate::{Files, place::Place};
use lockwork_core::lock::Result;
use std::{path::Path, time::Duration};

/// How a directory of locks is used; see [`Files::options`].
#[derive(Clone, Copy, Debug)]
pub struct Options {
    pub(crate) shared: bool,
    pub(crate) any_file_system: bool,
    pub(crate) poll: bool,
    pub(crate) idle: Duration,
}

impl Options {
    pub(crate) const fn new() -> Self {
        Self {
            shared: false,
            any_file_system: false,
            poll: false,
            idle: Duration::from_secs(24 * 60 * 60),
        }
    }

    /// Accepts a directory that belongs to another user or that others may write to.
    ///
    /// Whoever may write there can take a lock away by removing its file, and can keep it for
    /// ever. New lock files can be written by the group.
    #[must_use]
    pub const fn shared(mut self, yes: bool) -> Self {
        self.shared = yes;
        self
    }

    /// Accepts any file system, also one that is not known to be local.
    ///
    /// On NFS, SMB and FUSE a lock may exclude nobody, or be forgotten when the server restarts.
    #[must_use]
    pub const fn any_file_system(mut self, yes: bool) -> Self {
        self.any_file_system = yes;
        self
    }

    /// Waits by looking again and again, up to every 50 ms, also where the system can tell.
    #[must_use]
    pub const fn poll(mut self, yes: bool) -> Self {
        self.poll = yes;
        self
    }

    /// Removes the file of a lock that nobody has used for so long. A day unless said otherwise.
    ///
    /// Tokens rise across that, unless the clock is set back by more than this.
    #[must_use]
    pub const fn idle(mut self, idle: Duration) -> Self {
        self.idle = idle;
        self
    }

    /// Opens the directory `path`, making it if only its last part is missing.
    ///
    /// # Errors
    /// [`Invalid`](lockwork_core::lock::ErrorKind::Invalid) if it is not a directory or not a safe
    /// one, [`Unsupported`](lockwork_core::lock::ErrorKind::Unsupported) if its file system is not
    /// known to be local, or what the system has to say.
    pub fn open(self, path: impl AsRef<Path>) -> Result<Files> {
        Place::open(path.as_ref(), self).map(Files::of)
    }
}
