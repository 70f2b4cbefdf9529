//! What a failed call means, in a sentence that says what to do.
//!
//! The driver's own error goes along as the cause. None of them repeats a password: the server does
//! not know it and the driver prints no options.

use lockwork_core::lock::{Error, ErrorKind};

/// What `error` means for whoever asked the server for something.
pub(crate) fn refused(error: sqlx::Error) -> Error {
    let (kind, message) = meaning(&error);
    Error::new(kind, message).because(error)
}

fn meaning(error: &sqlx::Error) -> (ErrorKind, &'static str) {
    use sqlx::Error as E;
    match error {
        E::Database(error) => by_code(&error.code().unwrap_or_default()),
        E::Tls(_) => (
            ErrorKind::Denied,
            "the server's certificate does not hold: name its authority with sslrootcert=FILE, \
             connect by the name it was issued to, or renew it",
        ),
        E::Io(error) if error.kind() == std::io::ErrorKind::InvalidData => (
            ErrorKind::Denied,
            "the server's certificate does not hold: name its authority with sslrootcert=FILE, \
             connect by the name it was issued to, or renew it",
        ),
        E::Io(_) | E::PoolTimedOut | E::PoolClosed | E::WorkerCrashed => (
            ErrorKind::Unavailable,
            "the PostgreSQL server cannot be reached: check host and port, and whether it runs",
        ),
        E::Configuration(_) => (
            ErrorKind::Invalid,
            "the options for connecting to PostgreSQL cannot be used: check certificates and keys",
        ),
        E::Protocol(_) | E::Decode(_) | E::ColumnDecode { .. } => (
            ErrorKind::Unavailable,
            "what answers there is no PostgreSQL server: check host and port",
        ),
        _ => (
            ErrorKind::Unexpected,
            "PostgreSQL answered with something lockwork does not know: report it",
        ),
    }
}

/// By SQLSTATE, or by its class.
fn by_code(code: &str) -> (ErrorKind, &'static str) {
    match code {
        "28P01" | "28000" => (
            ErrorKind::Denied,
            "PostgreSQL refused the user or the password: check both, and pg_hba.conf",
        ),
        "3D000" => (
            ErrorKind::Invalid,
            "there is no such database: create it, or name another after the slash of the URL",
        ),
        "42501" => (
            ErrorKind::Denied,
            "the role lacks a right: grant it what `lockwork doctor` names",
        ),
        "42P01" | "3F000" => (
            ErrorKind::Denied,
            "the schema of lockwork is gone from the database: create it again, as its \
             documentation says",
        ),
        "25006" => (
            ErrorKind::Denied,
            "the server is read-only, a standby perhaps: connect to the primary",
        ),
        "53200" => (
            ErrorKind::Unavailable,
            "the server has no room for more locks: raise max_locks_per_transaction, or hold fewer",
        ),
        "53300" => (
            ErrorKind::Unavailable,
            "the server has no room for more connections: raise max_connections, or close some",
        ),
        "08P01" => (
            ErrorKind::Invalid,
            "what answers there does not speak to us as PostgreSQL does, a pooler perhaps: connect \
             to the server itself",
        ),
        "26000" | "42P05" => pooled(),
        _ => by_class(code),
    }
}

fn by_class(code: &str) -> (ErrorKind, &'static str) {
    match code.get(..2) {
        // Connection exceptions; resources; an operator ended or the server refuses; system errors.
        Some("08" | "53" | "57" | "58") => (
            ErrorKind::Unavailable,
            "PostgreSQL ended the connection, or accepts none now: try again later",
        ),
        Some("28") => (
            ErrorKind::Denied,
            "PostgreSQL let us not in: check the role",
        ),
        _ => (
            ErrorKind::Unexpected,
            "PostgreSQL refused a statement of lockwork: report it",
        ),
    }
}

/// Behind a pooler that gives each transaction another connection.
pub(crate) const fn pooled() -> (ErrorKind, &'static str) {
    (
        ErrorKind::Denied,
        "a pooler in transaction mode is in between, where a lock would be taken on one connection \
         and given back on another: connect to the server itself, use session pooling, or add \
         ?mode=lease to the URL",
    )
}
