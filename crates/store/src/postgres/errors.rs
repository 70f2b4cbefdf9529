//! What a failed statement means: for the connection, for whoever asked, and in a sentence that says what to do.
//!
//! The driver's own error goes along as the cause. None of them repeats a password: the server does not know it and the
//! driver prints no options.

use lockwork_core::workflow::{Error, ErrorKind};
use sqlx::error::DatabaseError;
use sqlx::postgres::PgDatabaseError;

/// Why a statement has no result.
#[derive(Debug)]
pub(crate) enum Trouble {
    /// Nothing was done, because somebody else was in the way: the same may succeed now.
    Again(Error),
    /// Nothing was done, and the connection is as it was.
    Refused(Error),
    /// The connection is no good any more. What was under way may have been done.
    Broken(Error),
}

impl Trouble {
    pub(crate) fn into_error(self) -> Error {
        match self {
            Self::Again(error) | Self::Refused(error) | Self::Broken(error) => error,
        }
    }
}

impl From<Error> for Trouble {
    fn from(error: Error) -> Self {
        Self::Refused(error)
    }
}

impl From<sqlx::Error> for Trouble {
    fn from(error: sqlx::Error) -> Self {
        match error {
            sqlx::Error::Database(error) => of_server(error),
            other => {
                let (kind, message) = meaning(&other);
                Self::Broken(Error::new(kind, message).because(other))
            }
        }
    }
}

pub(crate) fn invalid(message: &'static str) -> Error {
    Error::new(ErrorKind::Invalid, message)
}

/// Somebody else was handed an errand.
pub(crate) fn not_held() -> Error {
    Error::new(ErrorKind::Fenced, NOT_HELD)
}

const NOT_HELD: &str = "somebody else was handed this errand since";

/// What the functions of the schema refuse with.
fn of_ours(code: &str) -> Option<(ErrorKind, &'static str)> {
    Some(match code {
        "LW001" => (
            ErrorKind::Fenced,
            "somebody else has claimed this instance since",
        ),
        "LW002" => (ErrorKind::Fenced, NOT_HELD),
        "LW003" => (ErrorKind::NotFound, "there is no such instance"),
        "LW004" => (
            ErrorKind::Conflict,
            "another instance like this one runs, and one only may",
        ),
        "LW006" => (
            ErrorKind::Invalid,
            "a stimulus is sent in a transaction that is READ COMMITTED: in any other it would not see those who have \
             begun to wait for it since",
        ),
        _ => return None,
    })
}

/// Somebody else was in the way: of both, the server has ended one; or the function asks for it.
const AGAIN: [&str; 3] = ["40P01", "40001", "LW005"];

fn of_server(error: Box<dyn DatabaseError>) -> Trouble {
    let code = error.code().unwrap_or_default().into_owned();
    if let Some((kind, message)) = of_ours(&code) {
        let mut ours = Error::new(kind, message);
        let detail = error.try_downcast_ref::<PgDatabaseError>();
        if let Some(running) = detail.and_then(PgDatabaseError::detail) {
            ours = ours.with("running", running);
        }
        return Trouble::Refused(ours);
    }
    let (kind, message) = by_code(&code);
    let ours = Error::new(kind, message).because(sqlx::Error::Database(error));
    if AGAIN.contains(&code.as_str()) {
        return Trouble::Again(ours);
    }
    match code.get(..2) {
        // The server ends the connection; or is not the one we want, as after a failover.
        _ if code.starts_with("57P") || code == "25006" || code == "25P03" => Trouble::Broken(ours),
        // A statement that was prepared on another connection, or for tables that have changed.
        _ if ["26000", "42P05", "0A000"].contains(&code.as_str()) => Trouble::Broken(ours),
        Some("08" | "28" | "58") => Trouble::Broken(ours),
        _ => Trouble::Refused(ours),
    }
}

fn meaning(error: &sqlx::Error) -> (ErrorKind, &'static str) {
    use sqlx::Error as E;
    match error {
        E::Tls(error) if error.to_string().contains("does not support TLS") => (
            ErrorKind::Denied,
            "the server has no TLS, and sslmode asks for it (as it does unless said otherwise, for a server on another \
             machine): turn it on there, or say sslmode=disable",
        ),
        E::Tls(_) => (
            ErrorKind::Invalid,
            "TLS cannot be set up: check host, sslrootcert, sslcert and sslkey",
        ),
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
        E::Protocol(_) => stranger(),
        E::ColumnDecode { .. } | E::Decode(_) | E::ColumnNotFound(_) | E::TypeNotFound { .. } => (
            ErrorKind::Unexpected,
            "a table of the store is not as lockwork has made it: restore the schema from a backup",
        ),
        _ => (
            ErrorKind::Unexpected,
            "PostgreSQL answered with something lockwork does not know: report it",
        ),
    }
}

/// In the handshake, in the words of `rustls`.
fn of_handshake(text: &str) -> (ErrorKind, &'static str) {
    if text.starts_with("invalid peer certificate") {
        return (
            ErrorKind::Denied,
            "the server's certificate does not hold: name its authority with sslrootcert=FILE, connect by the name it \
             was issued to, or renew it",
        );
    }
    match text.starts_with("received fatal alert") {
        true => (
            ErrorKind::Denied,
            "the server ended the TLS handshake: check sslcert and sslkey, and which versions of TLS it speaks",
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
    has_code(error, "42501")
}

/// Whether the server, or a pooler before it, refuses what it was told at the beginning.
pub(crate) fn is_lack_of_startup(error: &sqlx::Error) -> bool {
    ["08P01", "42704", "22023"]
        .iter()
        .any(|code| has_code(error, code))
}

fn has_code(error: &sqlx::Error, code: &str) -> bool {
    let error = error.as_database_error();
    error.is_some_and(|error| error.code().is_some_and(|found| found == code))
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
            "the role lacks a right on the schema of the store: have an administrator run the script that \
             PostgresStore::schema_sql prints",
        ),
        "42P01" | "3F000" | "42883" | "42703" => (
            ErrorKind::Denied,
            "the schema of the store is gone from the database, or not whole: restore it, or have an administrator run \
             the script that PostgresStore::schema_sql prints",
        ),
        "25006" => (
            ErrorKind::Denied,
            "the server is read-only, a standby perhaps: connect to the primary, or turn \
             default_transaction_read_only off",
        ),
        "22021" | "22P05" => (
            ErrorKind::Invalid,
            "PostgreSQL keeps no text with a zero byte in it: remove or encode it",
        ),
        "40P01" | "40001" | "LW005" => (
            ErrorKind::Unavailable,
            "somebody else was in the way each time: try again",
        ),
        "57014" => (
            ErrorKind::Unavailable,
            "PostgreSQL took too long and gave up: look for what holds it up, and try again",
        ),
        "53200" => (
            ErrorKind::Unavailable,
            "the server has no room for more locks: raise max_locks_per_transaction",
        ),
        "53300" => (
            ErrorKind::Unavailable,
            "the server has no room for more connections: raise max_connections, or say a smaller pool",
        ),
        "53100" => (
            ErrorKind::Unavailable,
            "the disk of the server is full: make room",
        ),
        "26000" | "42P05" => (
            ErrorKind::Denied,
            "a pooler in between keeps no prepared statements: set max_prepared_statements there, or connect to the \
             server itself",
        ),
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
