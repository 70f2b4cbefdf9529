//! What is asked of the operating system, one file for each kind of it.

#[cfg_attr(unix, path = "unix.rs")]
#[cfg_attr(not(unix), path = "other.rs")]
mod imp;

pub(crate) use imp::*;

use std::time::SystemTime;

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

/// Which file it is, whatever it is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Identity {
    pub(crate) device: u64,
    pub(crate) inode: u64,
}

/// What is known of an open file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Facts {
    pub(crate) identity: Identity,
    pub(crate) regular: bool,
    /// How many names it has.
    pub(crate) links: u64,
    pub(crate) owner: u32,
    /// Permission bits.
    pub(crate) mode: u32,
    pub(crate) modified: SystemTime,
}
