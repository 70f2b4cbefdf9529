//! What a database says, as a sentence for whoever runs it.

use lockwork_core::workflow::{Error, ErrorKind};

/// What the trigger of `lockwork_refusals` says.
const REFUSED: &str = "lockwork: refused";

/// Whether statements were stopped by one of our own, because something was not as they need it.
pub(super) fn is_refusal(error: &sqlx::Error) -> bool {
    let database = error.as_database_error();
    database.is_some_and(|error| error.message() == REFUSED)
}

/// The primary result code: <https://www.sqlite.org/rescode.html>.
fn code(error: &sqlx::Error) -> Option<i32> {
    let code = error.as_database_error()?.code()?;
    code.parse().ok().map(|code: i32| code & 0xff)
}

/// Whether somebody else is in the way.
pub(super) fn is_busy(error: &sqlx::Error) -> bool {
    matches!(code(error), Some(5 | 6))
}

/// What went wrong, and what to do.
pub(super) fn of(error: sqlx::Error) -> Error {
    let (kind, message) = match code(&error) {
        Some(code) => by_code(code),
        None => otherwise(&error),
    };
    Error::new(kind, message).because(error)
}

const fn by_code(code: i32) -> (ErrorKind, &'static str) {
    match code {
        5 | 6 => (
            ErrorKind::Unavailable,
            "another process keeps the store's file locked: let it end its transaction, or wait longer with `busy`",
        ),
        3 | 23 => (
            ErrorKind::Denied,
            "the system refuses access to the store's file: check who owns it and its directory",
        ),
        8 => (
            ErrorKind::Denied,
            "the store's file cannot be written: make the file, its directory and the file system writable for this process",
        ),
        10 => (
            ErrorKind::Unavailable,
            "the disk with the store's file failed: look into the system's log; the store goes on by itself once it works",
        ),
        13 => (
            ErrorKind::Unavailable,
            "there is no room for the store's file: free some on its disk; the store goes on by itself",
        ),
        14 => (
            ErrorKind::Denied,
            "the store's file cannot be opened: check that its directory exists and that this process may write there",
        ),
        18 => (
            ErrorKind::Invalid,
            "this is too large for a row: keep large values elsewhere, and their address in the workflow",
        ),
        11 => (
            ErrorKind::Unexpected,
            "the store's file is damaged: stop what uses it and restore it from a backup, or save what is left with `sqlite3 FILE .recover`",
        ),
        26 => (
            ErrorKind::Invalid,
            "this file is no SQLite database: name another one",
        ),
        _ => (
            ErrorKind::Unexpected,
            "the database refused a statement: report it",
        ),
    }
}

const fn otherwise(error: &sqlx::Error) -> (ErrorKind, &'static str) {
    match error {
        sqlx::Error::ColumnDecode { .. } | sqlx::Error::Decode(_) => (
            ErrorKind::Unexpected,
            "a row of the store is damaged: restore it from a backup, or delete what it is about",
        ),
        sqlx::Error::PoolTimedOut => (
            ErrorKind::Unavailable,
            "all of the store's readers are busy: ask for less at a time, or allow more with `readers`",
        ),
        sqlx::Error::PoolClosed | sqlx::Error::WorkerCrashed => {
            (ErrorKind::Unavailable, "the store is closed: open it again")
        }
        sqlx::Error::Io(_) => (
            ErrorKind::Unavailable,
            "the store's file cannot be reached: check its directory and its disk",
        ),
        _ => (
            ErrorKind::Unexpected,
            "the store did what it should not: report it",
        ),
    }
}

/// Somebody else was quicker.
pub(super) fn fenced(message: &'static str) -> Error {
    Error::new(ErrorKind::Fenced, message)
}

/// That of a holder whose errand was handed to somebody else.
pub(super) fn not_held() -> Error {
    fenced("somebody else was handed this errand since")
}
