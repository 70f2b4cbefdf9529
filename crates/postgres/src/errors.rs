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
        E::Tls(error) => of_tls(&error.to_string()),
        E::Io(error) if error.kind() == std::io::ErrorKind::InvalidData => {
            of_handshake(&error.to_string())
        }
        E::Io(_) | E::PoolTimedOut | E::PoolClosed | E::WorkerCrashed => (
            ErrorKind::Unavailable,
            "the PostgreSQL server cannot be reached: check host and port, and whether it runs",
        ),
        E::Configuration(_) => (
            ErrorKind::Invalid,
            "our certificate or its key cannot be used: give both, sslcert and sslkey, in PEM",
        ),
        E::Protocol(_) | E::Decode(_) | E::ColumnDecode { .. } => stranger(),
        _ => (
            ErrorKind::Unexpected,
            "PostgreSQL answered with something lockwork does not know: report it",
        ),
    }
}

/// Before the handshake. The driver has no types for what it says here; the suite has both servers.
fn of_tls(text: &str) -> (ErrorKind, &'static str) {
    match text.contains("does not support TLS") {
        true => (
            ErrorKind::Denied,
            "the server has no TLS, and sslmode asks for it (as it does unless said otherwise, for \
             a server on another machine): turn it on there, or say sslmode=disable",
        ),
        false => (
            ErrorKind::Invalid,
            "TLS cannot be set up: check host, sslrootcert, sslcert and sslkey",
        ),
    }
}

/// In the handshake, in the words of `rustls`.
fn of_handshake(text: &str) -> (ErrorKind, &'static str) {
    if text.starts_with("invalid peer certificate") {
        return (
            ErrorKind::Denied,
            "the server's certificate does not hold: name its authority with sslrootcert=FILE, \
             connect by the name it was issued to, or renew it",
        );
    }
    match text.starts_with("received fatal alert") {
        true => (
            ErrorKind::Denied,
            "the server ended the TLS handshake: check sslcert and sslkey, and which versions of \
             TLS it speaks",
        ),
        false => stranger(),
    }
}

const fn stranger() -> (ErrorKind, &'static str) {
    (
        ErrorKind::Unavailable,
        "what answers there is no PostgreSQL server: check host and port",
    )
}

/// Whether the role may not do what it asked for.
pub(crate) fn is_lack_of_rights(error: &sqlx::Error) -> bool {
    let error = error.as_database_error();
    error.is_some_and(|error| error.code().is_some_and(|code| code == LACK_OF_RIGHTS))
}

const LACK_OF_RIGHTS: &str = "42501";

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
        LACK_OF_RIGHTS => (
            ErrorKind::Denied,
            "the role lacks a right: GRANT it CONNECT on the database, USAGE on the schema of \
             lockwork, and USAGE, SELECT, UPDATE on the sequence in it",
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
