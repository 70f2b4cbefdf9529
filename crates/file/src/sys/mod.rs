//! What is asked of the operating system, one file for each kind of it.

#[cfg_attr(unix, path = "unix.rs")]
#[cfg_attr(not(unix), path = "other.rs")]
mod imp;

pub(crate) use imp::*;

/// Compiled here too, so that a change elsewhere does not break it unseen.
#[cfg(all(test, unix))]
#[path = "other.rs"]
#[allow(dead_code)]
mod other;

/// How a lock file is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    /// To be locked and written. Whoever watches the file is told when it is closed.
    Write,
    /// To be locked. Nobody is told when it is closed.
    Read,
}

/// Whether a file that is not there is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Missing {
    Make,
    Leave,
}
