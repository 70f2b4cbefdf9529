//! What a failed call means, in a sentence that says what to do.

use lockwork_core::lock::{Error, ErrorKind};
use std::{io, path::Path};

/// What `error` means for whoever wanted to lock in `path`.
pub(crate) fn refused(error: io::Error, path: &Path) -> Error {
    let (kind, message) = meaning(&error);
    Error::new(kind, message)
        .with("path", path.display())
        .because(error)
}

fn meaning(error: &io::Error) -> (ErrorKind, &'static str) {
    use io::ErrorKind as Io;
    match error.kind() {
        Io::PermissionDenied | Io::ReadOnlyFilesystem => (
            ErrorKind::Denied,
            "the lock directory cannot be written to: give this user the right, or use another \
             directory",
        ),
        Io::StorageFull | Io::QuotaExceeded => (
            ErrorKind::Unavailable,
            "there is no room for the lock's record: free space on the disk",
        ),
        Io::NotFound | Io::NotADirectory => (
            ErrorKind::Unavailable,
            "the lock directory is gone: create it again",
        ),
        Io::IsADirectory => (
            ErrorKind::Invalid,
            "a directory is where a lock file belongs: remove it",
        ),
        Io::Unsupported => (
            ErrorKind::Unsupported,
            "this file system has no locks: use another directory",
        ),
        _ => by_number(error),
    }
}

#[cfg(unix)]
fn by_number(error: &io::Error) -> (ErrorKind, &'static str) {
    use rustix::io::Errno;
    match error.raw_os_error().map(Errno::from_raw_os_error) {
        Some(Errno::MFILE | Errno::NFILE) => (
            ErrorKind::Unavailable,
            "too many files are open: raise the limit (ulimit -n), or hold fewer locks",
        ),
        Some(Errno::LOOP) => (
            ErrorKind::Invalid,
            "a symbolic link is where a lock file belongs: remove it, and see who put it there",
        ),
        Some(Errno::NXIO | Errno::NODEV | Errno::OPNOTSUPP) => (
            ErrorKind::Invalid,
            "a socket or a device is where a lock file belongs: remove it",
        ),
        Some(Errno::NOLCK) => (
            ErrorKind::Unavailable,
            "the system has no room for more locks: hold fewer",
        ),
        Some(Errno::IO) => (
            ErrorKind::Unavailable,
            "the disk failed to read or write the lock's record: look at the system's log",
        ),
        _ => UNEXPECTED,
    }
}

#[cfg(not(unix))]
fn by_number(_: &io::Error) -> (ErrorKind, &'static str) {
    UNEXPECTED
}

const UNEXPECTED: (ErrorKind, &str) = (
    ErrorKind::Unexpected,
    "the system refused what it should not: report it",
);

/// A file that is not a lock file stands where one belongs.
pub(crate) fn strange(message: &'static str, path: &Path) -> Error {
    Error::new(ErrorKind::Invalid, message).with("path", path.display())
}
