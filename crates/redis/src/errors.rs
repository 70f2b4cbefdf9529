//! What a failed call means, in a sentence that says what to do.
//!
//! The driver's own error goes along as the cause. None of them repeats a password: the server does
//! not send it back and the driver prints no options.

use lockwork_core::lock::{Error, ErrorKind, backend::line::Failure};
use redis::{ErrorKind as Kind, RedisError, ServerErrorKind};
use std::error::Error as _;

/// What `error` means for whoever asked the server for something.
pub(crate) fn refused(error: RedisError) -> Error {
    let (kind, message) = meaning(&error);
    Error::new(kind, message).because(error)
}

/// The same, and whether the server may have done it nevertheless.
pub(crate) fn failure(error: RedisError) -> Failure {
    // An answer with an error says that the script did not run: what goes wrong inside of it is
    // part of its own answer.
    match error.kind() {
        // The address may lead to another server by now: what is open is not used again.
        Kind::Server(ServerErrorKind::ReadOnly) => Failure::Unknown(refused(error)),
        Kind::Server(_) | Kind::Extension | Kind::AuthenticationFailed => {
            Failure::NotDone(refused(error))
        }
        _ => Failure::Unknown(refused(error)),
    }
}

fn meaning(error: &RedisError) -> (ErrorKind, &'static str) {
    match error.kind() {
        Kind::Server(_) | Kind::Extension => {
            by_code(error.code().unwrap_or_default(), error.detail())
        }
        Kind::AuthenticationFailed => login(),
        Kind::RESP3NotSupported => too_old(),
        // The driver's own words; of files it says nothing like it.
        Kind::InvalidClientConfig if error.to_string().to_lowercase().contains("sentinel") => (
            ErrorKind::Invalid,
            "this is no sentinel but a Redis server: write redis:// in the URL, or the port of a \
             sentinel",
        ),
        Kind::InvalidClientConfig => unusable_files(),
        Kind::MasterNameNotFoundBySentinel => (
            ErrorKind::Unavailable,
            "no sentinel knows a primary of this name that is up: check the name in the URL",
        ),
        Kind::Io if error.is_timeout() => silent(),
        Kind::Io => of_tls(&error.to_string()).unwrap_or_else(|| match hung_up(error) {
            true => (
                ErrorKind::Unavailable,
                "the Redis server hung up: check host and port, whether TLS is on, and whether it \
                 runs",
            ),
            false => unreachable_server(),
        }),
        Kind::Parse | Kind::UnexpectedReturnType => stranger(),
        Kind::ClusterConnectionNotFound => (
            ErrorKind::Unavailable,
            "no node of the Redis cluster can be reached: check hosts and ports",
        ),
        _ if error.is_cluster_error() => cluster(),
        _ => stranger(),
    }
}

/// Until the handshake is over, what is wrong with TLS comes as an error of input, and from a cluster
/// as a text: so it is the words of rustls that tell.
fn of_tls(text: &str) -> Option<(ErrorKind, &'static str)> {
    let has = |words: &[&str]| words.iter().any(|word| text.contains(word));
    if has(&["invalid peer certificate"]) {
        return Some((
            ErrorKind::Denied,
            "the certificate of the Redis server is not to be trusted: give the authority it comes \
             from by sslrootcert, or the name it is made out to",
        ));
    }
    let alert = has(&["received fatal alert"]);
    if alert
        && has(&[
            "Certificate",
            "UnknownCA",
            "AccessDenied",
            "HandshakeFailure",
        ])
    {
        return Some((
            ErrorKind::Denied,
            "the Redis server wants a certificate of ours that it trusts: give it and its key by \
             sslcert and sslkey",
        ));
    }
    (alert || has(&["corrupt message", "unexpected message"])).then(stranger)
}

fn hung_up(error: &RedisError) -> bool {
    error.is_connection_dropped() && !error.is_connection_refusal() && error.source().is_some()
}

pub(crate) const fn unusable_files() -> (ErrorKind, &'static str) {
    (
        ErrorKind::Invalid,
        "the certificate, its key, or the authority to trust cannot be used: give PEM files that \
         belong together",
    )
}

/// What is wrong with files before anybody is connected to.
pub(crate) fn unusable(error: RedisError) -> Error {
    let (kind, message) = match error.kind() {
        Kind::Io => unusable_files(),
        _ => meaning(&error),
    };
    Error::new(kind, message).because(error)
}

const fn unreachable_server() -> (ErrorKind, &'static str) {
    (
        ErrorKind::Unavailable,
        "the Redis server cannot be reached: check host and port, and whether it runs",
    )
}

const fn stranger() -> (ErrorKind, &'static str) {
    (
        ErrorKind::Unavailable,
        "what answers does not speak as Redis does: check host and port, and whether TLS is on",
    )
}

pub(crate) const fn too_old() -> (ErrorKind, &'static str) {
    (
        ErrorKind::Denied,
        "this Redis server is too old: lockwork needs version 6.0 or later",
    )
}

const fn login() -> (ErrorKind, &'static str) {
    (
        ErrorKind::Denied,
        "the Redis server refused user or password: check both in the URL",
    )
}

const fn cluster() -> (ErrorKind, &'static str) {
    (
        ErrorKind::Unavailable,
        "the Redis cluster is not ready: see CLUSTER INFO on a node",
    )
}

fn by_code(code: &str, detail: Option<&str>) -> (ErrorKind, &'static str) {
    let says = |word: &str| detail.is_some_and(|detail| detail.contains(word));
    match code {
        "NOAUTH" | "WRONGPASS" => login(),
        "NOPERM" => (
            ErrorKind::Denied,
            "this user of Redis may not do that: grant what the README of lockwork-redis lists under \
             Rights",
        ),
        "READONLY" => replica(),
        "OOM" => (
            ErrorKind::Unavailable,
            "the memory of the Redis server is full: raise maxmemory, or find what fills it",
        ),
        "WRONGTYPE" => foreign(),
        "LOADING" | "MASTERDOWN" | "TRYAGAIN" => (
            ErrorKind::Unavailable,
            "the Redis server is not ready yet: try again later",
        ),
        "BUSY" => (
            ErrorKind::Unavailable,
            "a script of somebody else keeps the Redis server busy: see SCRIPT KILL",
        ),
        "NOREPLICAS" => (
            ErrorKind::Unavailable,
            "the Redis server has fewer replicas than min-replicas-to-write asks for",
        ),
        "MISCONF" => (
            ErrorKind::Unavailable,
            "the Redis server cannot write to its disk and takes no changes: see its log",
        ),
        "MOVED" | "ASK" | "CROSSSLOT" => node(),
        "CLUSTERDOWN" => cluster(),
        // Of a command inside of the script.
        "ERR" if says("The user executing the script") => by_code("NOPERM", None),
        "ERR" if says("unknown command") => too_old(),
        "ERR" if says("max number of clients") => (
            ErrorKind::Unavailable,
            "the Redis server has as many clients as it takes: raise maxclients",
        ),
        "ERR" if says("DB index") => (
            ErrorKind::Invalid,
            "there is no such database: the number after the / of the URL is too high",
        ),
        "ERR" if says("AUTH") => login(),
        "ERR" if says("cluster support disabled") => (
            ErrorKind::Invalid,
            "this Redis server is no node of a cluster: write redis:// in the URL",
        ),
        _ => (
            ErrorKind::Unexpected,
            "Redis answered with an error that lockwork does not know: report it",
        ),
    }
}

pub(crate) const fn node() -> (ErrorKind, &'static str) {
    (
        ErrorKind::Invalid,
        "this is a node of a Redis cluster: write redis+cluster:// in the URL",
    )
}

pub(crate) const fn replica() -> (ErrorKind, &'static str) {
    (
        ErrorKind::Denied,
        "this Redis server is a replica, where locks would exclude nobody: connect to its primary",
    )
}

const fn foreign() -> (ErrorKind, &'static str) {
    (
        ErrorKind::Invalid,
        "something that is no lock of lockwork's is stored under the key of this lock: remove it, or \
         choose another prefix",
    )
}

/// What the script says of one thing that went wrong.
pub(crate) fn of_thing(text: &str) -> Error {
    // Some versions put a minus before, as on the wire.
    let text = text.trim_start_matches('-');
    let (code, detail) = text.split_once(' ').unwrap_or((text, ""));
    let (kind, message) = match code {
        // What a script fails with has the name of the script before it.
        _ if text.contains("cmsgpack") || text.contains("Bad data format") => foreign(),
        _ if text.contains("WRONGTYPE") => foreign(),
        _ if text.contains("OOM command") => by_code("OOM", None),
        _ if is_of_replica(text) => replica(),
        _ if text.contains("NOPERM") || text.contains("ACL") => by_code("NOPERM", None),
        _ => by_code(code, Some(detail)),
    };
    Error::new(kind, message).because(text.to_owned())
}

/// Whether the script was stopped because the server is a replica by now.
pub(crate) fn is_of_replica(text: &str) -> bool {
    text.contains("READONLY")
}

/// The server answered something else than was asked.
pub(crate) fn contradiction() -> Error {
    let message = "Redis answered another question than the one that was asked: something between us \
                   and the server repeats or loses what is said";
    Error::new(ErrorKind::Unexpected, message).transient(true)
}

const fn silent() -> (ErrorKind, &'static str) {
    (
        ErrorKind::Unavailable,
        "the Redis server did not answer in time: check host and port, whether TLS is on, and \
         whether it runs",
    )
}

/// There was no answer in time.
pub(crate) fn late() -> Error {
    let (kind, message) = silent();
    Error::new(kind, message)
}

/// Whether the server lacks the script.
pub(crate) fn is_unknown_script(error: &RedisError) -> bool {
    error.kind() == Kind::Server(ServerErrorKind::NoScript)
}
