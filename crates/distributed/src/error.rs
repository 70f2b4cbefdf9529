//! What a lock could not do, as those see it who run workflows.

use lockwork_core::{
    lock,
    workflow::{Error, ErrorKind},
};

/// The same, with what it was about.
pub(crate) fn of_lock(error: lock::Error, key: &str) -> Error {
    let (kind, message) = match error.kind() {
        lock::ErrorKind::Unavailable => (
            ErrorKind::Unavailable,
            "the lock server cannot be reached: try again later",
        ),
        lock::ErrorKind::Lost => (ErrorKind::Fenced, "the lock was lost"),
        lock::ErrorKind::Denied => (
            ErrorKind::Denied,
            "the lock server refuses this node: check its credentials and rights",
        ),
        lock::ErrorKind::Closed => (
            ErrorKind::Stopping,
            "the locks of this node are closed: ask another one",
        ),
        lock::ErrorKind::Invalid => (ErrorKind::Invalid, "there can be no such lock"),
        lock::ErrorKind::Unsupported => (
            ErrorKind::Unsupported,
            "this backend has no such locks: choose another one",
        ),
        _ => (ErrorKind::Unexpected, "the lock server failed: report it"),
    };
    let transient = error.is_transient();
    let error = Error::new(kind, message).with("why", &error).because(error);
    error.with("lock", key).transient(transient)
}
