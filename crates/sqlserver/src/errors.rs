//! What a failed call means, in a sentence that says what to do.
//!
//! The driver's own error goes along as the cause. None of them repeats a password: the server does
//! not know it and the driver prints no configuration.

use crate::wire::STRANGER;
use lockwork_core::lock::{Error, ErrorKind};
use std::io;

/// What `error` means for whoever asked the server for something.
pub(crate) fn refused(error: tiberius::error::Error) -> Error {
    let (kind, message) = meaning(&error);
    Error::new(kind, message).because(error)
}

/// What `error` means for whoever was about to get in.
pub(crate) fn not_let_in(error: tiberius::error::Error) -> Error {
    let (kind, message) = match &error {
        tiberius::error::Error::Io { message, .. } if !has_a_word_for_it(message) => HUNG_UP,
        _ => meaning(&error),
    };
    Error::new(kind, message).because(error)
}

/// The server was not reached at all.
pub(crate) fn unreachable(error: io::Error) -> Error {
    let (kind, message) = UNREACHABLE;
    Error::new(kind, message).because(error)
}

const UNREACHABLE: (ErrorKind, &str) = (
    ErrorKind::Unavailable,
    "the SQL Server cannot be reached: check host and port, and whether it runs",
);

/// A server that wants to be spoken to otherwise does not say so.
const HUNG_UP: (ErrorKind, &str) = (
    ErrorKind::Unavailable,
    "the connection ended before the SQL Server had let us in: check host and port, and whether \
     encrypt is what the server wants (strict, true, login or none)",
);

/// How the driver says that the server has no encryption to offer.
const NO_ENCRYPTION: &str = "does not allow the requested encryption";

fn meaning(error: &tiberius::error::Error) -> (ErrorKind, &'static str) {
    use tiberius::error::Error as E;
    match error {
        E::Server(token) => by_number(token.code(), token.class()),
        E::Tls(text) => of_tls(text),
        E::Io { message, .. } if message.contains(STRANGER) => SPEAKS_OTHERWISE,
        E::Io { message, .. } if is_of_tls(message) => of_tls(message),
        E::Io { .. } => (
            ErrorKind::Unavailable,
            "the connection to the SQL Server broke: check the network, and whether it runs",
        ),
        E::Protocol(text) if text.contains(NO_ENCRYPTION) => (
            ErrorKind::Denied,
            "the SQL Server offers no encryption: give it a certificate, or say encrypt=none where \
             nobody in between can read the password",
        ),
        E::Protocol(_) | E::Encoding(_) | E::Utf8 | E::Utf16 | E::ParseInt(_) => SPEAKS_OTHERWISE,
        E::Routing { .. } => (
            ErrorKind::Unavailable,
            "the server sends us on to another again and again: check how it is set up",
        ),
        _ => UNKNOWN,
    }
}

const SPEAKS_OTHERWISE: (ErrorKind, &str) = (
    ErrorKind::Unavailable,
    "what answers there does not speak as SQL Server does: check host and port, and whether encrypt \
     is what the server wants",
);

const UNKNOWN: (ErrorKind, &str) = (
    ErrorKind::Unexpected,
    "SQL Server answered with something lockwork does not know: report it",
);

/// Whether it says more than that the connection has ended.
fn has_a_word_for_it(text: &str) -> bool {
    text.contains(STRANGER) || is_of_tls(text)
}

fn is_of_tls(text: &str) -> bool {
    ["certificate", "fatal alert", "corrupt message"]
        .iter()
        .chain(OF_FILES)
        .any(|word| text.contains(word))
}

/// What the driver says of the files that it was to read.
const OF_FILES: &[&str] = &[
    "Could not read",
    "Failed to parse",
    "failed to parse",
    "CA source",
    "file-extension",
    "no certificates",
    "private key",
    "keys may not be consistent",
];

/// In the words of `rustls` and of the driver, which has no types for them.
fn of_tls(text: &str) -> (ErrorKind, &'static str) {
    if OF_FILES.iter().any(|word| text.contains(word)) {
        return (
            ErrorKind::Invalid,
            "a file for TLS is of no use: sslrootcert and sslcert are certificates in PEM, and \
             sslkey is the key of sslcert in PEM, without a password",
        );
    }
    if text.contains("corrupt message") {
        return SPEAKS_OTHERWISE;
    }
    if text.contains("dns name") {
        return (
            ErrorKind::Invalid,
            "no certificate can be made out to this name: check sslname, or else the host",
        );
    }
    if text.contains("certificate") {
        return (
            ErrorKind::Denied,
            "the certificate of the SQL Server is not to be trusted: give the authority it comes \
             from by sslrootcert=FILE, the name it is made out to by sslname, or renew it; \
             trust=any takes whatever there is",
        );
    }
    (
        ErrorKind::Denied,
        "TLS with the SQL Server failed: check whether encrypt is what the server wants (strict, \
         true, login or none), and which versions of TLS it speaks",
    )
}

/// Whether the login may not do what it asked for.
pub(crate) fn is_lack_of_rights(error: &tiberius::error::Error) -> bool {
    matches!(
        error.code(),
        Some(229 | 230 | 262 | 297 | 300 | 2760 | 6102 | 15151 | 15247)
    )
}

/// Whether something of that name was there before.
pub(crate) fn is_there_already(error: &tiberius::error::Error) -> bool {
    matches!(error.code(), Some(2714 | 2759))
}

/// By number, as in `sys.messages`; or by how severe it is.
fn by_number(number: u32, class: u8) -> (ErrorKind, &'static str) {
    match number {
        18450..=18452 | 18456..=18459 | 18470 | 18486..=18488 => (
            ErrorKind::Denied,
            "SQL Server refused the user or the password: check both, whether the login is enabled \
             and whether the server lets in logins of its own",
        ),
        911 | 916 | 4060 | 4064 => (
            ErrorKind::Invalid,
            "there is no such database, or the login has no user in it: create it, or name another \
             after the slash of the URL",
        ),
        229 | 230 | 262 | 2760 | 15151 | 15247 => (
            ErrorKind::Denied,
            "the user lacks a right: it needs EXECUTE on sp_getapplock and sp_releaseapplock, which \
             everybody has unless it was taken away (GRANT it in master), and UPDATE on the sequence \
             of lockwork",
        ),
        297 | 300 => (
            ErrorKind::Denied,
            "who holds a lock is told only to those who may see it: GRANT VIEW SERVER STATE to the \
             login (VIEW DATABASE STATE to the user, in Azure)",
        ),
        6102 => (
            ErrorKind::Denied,
            "breaking a lock ends the session that holds it: GRANT ALTER ANY CONNECTION to the login",
        ),
        208 => (
            ErrorKind::Denied,
            "the sequence of lockwork is gone from the database: create it again, as its \
             documentation says",
        ),
        3918 => no_transaction(),
        2812 => (
            ErrorKind::Unsupported,
            "this server has no application locks: it is no SQL Server, or too old a one",
        ),
        3906 => (
            ErrorKind::Denied,
            "the database is read-only, a secondary perhaps: connect to the primary",
        ),
        11728 => (
            ErrorKind::Denied,
            "the sequence of lockwork has come to its end: ALTER SEQUENCE … RESTART WITH the number \
             after its last NO MAXVALUE",
        ),
        1202 => (
            ErrorKind::Denied,
            "the role that principal names is not in the database, or the user is no member of it: \
             CREATE ROLE it there, and ALTER ROLE it ADD MEMBER the user",
        ),
        1205 => deadlock(),
        701 | 1204 => (
            ErrorKind::Unavailable,
            "SQL Server has no room for more locks: hold fewer, or give it more memory",
        ),
        // What Azure says while it moves a database or has too much to do.
        4221 | 10928 | 10929 | 40143 | 40197 | 40501 | 40540 | 40613 | 49918..=49920 => (
            ErrorKind::Unavailable,
            "the database is moved, or the server has too much to do: try again later",
        ),
        _ if class >= 20 || matches!(number, 596 | 6005 | 17142 | 17147 | 17188) => (
            ErrorKind::Unavailable,
            "SQL Server ended the connection, or accepts none now: try again later",
        ),
        _ => (
            ErrorKind::Unexpected,
            "SQL Server refused a statement of lockwork: report it",
        ),
    }
}

pub(crate) const fn deadlock() -> (ErrorKind, &'static str) {
    (
        ErrorKind::Deadlock,
        "the server found a cycle of sessions that wait for each other: roll back and begin again",
    )
}

pub(crate) const fn no_transaction() -> (ErrorKind, &'static str) {
    (
        ErrorKind::Denied,
        "a lock that ends with a transaction needs one: BEGIN TRANSACTION on this connection first",
    )
}

/// What a code of `sp_getapplock` means that is no grant and no refusal.
pub(crate) fn failed(code: i32) -> Error {
    let (kind, message) = match code {
        -3 => deadlock(),
        -2 => (
            ErrorKind::Unavailable,
            "the server called off the wait for the lock: try again",
        ),
        _ => (
            ErrorKind::Denied,
            "SQL Server refuses to lock on this: check that the principal exists and that the user \
             is a member of it, and for lock_in that a transaction is open",
        ),
    };
    Error::new(kind, message).with("code", code)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_that_is_no_answer_has_its_meaning() {
        assert_eq!(failed(-2).kind(), ErrorKind::Unavailable);
        assert_eq!(failed(-3).kind(), ErrorKind::Deadlock);
        assert_eq!(failed(-999).kind(), ErrorKind::Denied);
        assert!(failed(-999).to_string().contains("code=-999"));
    }

    #[test]
    fn a_fatal_error_of_any_number_is_the_end_of_the_connection() {
        assert_eq!(by_number(50_000, 20).0, ErrorKind::Unavailable);
        assert_eq!(by_number(50_000, 16).0, ErrorKind::Unexpected);
    }
}
