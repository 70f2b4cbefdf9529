//! What is wrong, in a sentence that says what to do. Never the server's own text or a URL: the one may
//! repeat what was signed, the other has a signature in it.

use crate::times;
use azure_core::error::ErrorKind as Kind;
use lockwork_core::lock::{Error, ErrorKind};
use std::{
    error::Error as StdError,
    time::{Duration, SystemTime},
};

/// By more than this a clock is wrong: the server refuses what was signed at another time than now.
const SKEW: Duration = Duration::from_secs(5 * 60);

/// The server answered, and refused.
pub(crate) fn answered(status: u16, code: &str, date: Option<SystemTime>) -> Error {
    let (kind, message) = match status {
        401 | 403 if is_skewed(date) => (
            ErrorKind::Denied,
            "the clock of this machine and that of the storage account differ by minutes, so what is \
             signed here is refused there: set this machine's clock",
        ),
        _ => by_code(status, code),
    };
    let error = Error::new(kind, message).with("status", status);
    match code {
        "" => error,
        code => error.with("code", code),
    }
}

fn is_skewed(date: Option<SystemTime>) -> bool {
    let now = times::millis(SystemTime::now());
    date.is_some_and(|date| u128::from(times::millis(date).abs_diff(now)) > SKEW.as_millis())
}

fn by_code(status: u16, code: &str) -> (ErrorKind, &'static str) {
    match code {
        "ContainerNotFound" | "ContainerBeingDeleted" | "ContainerDisabled" => container(),
        "AuthenticationFailed" | "InvalidAuthenticationInfo" | "NoAuthenticationInformation" => (
            ErrorKind::Denied,
            "the storage account does not accept the credentials: check the key, or whether the shared \
             access signature has expired, was cut off or is for another container",
        ),
        "AuthorizationPermissionMismatch"
        | "AuthorizationServiceMismatch"
        | "AuthorizationResourceTypeMismatch"
        | "AuthorizationProtocolMismatch"
        | "AuthorizationSourceIPMismatch"
        | "InsufficientAccountPermissions" => (
            ErrorKind::Denied,
            "whoever this is may not do that with the container: grant the role that the README of \
             lockwork-azure lists under Rights, or a signature with read, create and write",
        ),
        // Azure says so of its firewall, and Azurite of whatever was signed wrongly.
        "AuthorizationFailure" => (
            ErrorKind::Denied,
            "the storage account refuses this: check the key, whether the shared access signature has \
             expired, and the firewall of the account",
        ),
        "KeyBasedAuthenticationNotPermitted" => (
            ErrorKind::Denied,
            "this storage account takes no account keys: use Entra ID, or a user delegation signature",
        ),
        "AccountIsDisabled" | "PublicAccessNotPermitted" => (
            ErrorKind::Denied,
            "the storage account is disabled, or closed to whom it does not know",
        ),
        "BlobImmutableDueToPolicy" | "ContainerImmutableStorage" => (
            ErrorKind::Denied,
            "the container has an immutability policy, under which no lock can be taken twice: use \
             another container",
        ),
        // The latter is what Azurite says.
        "InvalidBlobType" | "InvalidOperation" => (
            ErrorKind::Invalid,
            "the blob of this lock is of another type: all processes must count tokens in the same way, \
             by metadata or by sequence",
        ),
        "InvalidResourceName" | "InvalidUri" => (
            ErrorKind::Invalid,
            "this is not the name of a container: it has 3 to 63 lower-case letters, digits and hyphens",
        ),
        "ResourceNotFound" | "AccountNotFound" | "HostInformationNotPresent" => (
            ErrorKind::Denied,
            "there is no such storage account here: check its name in the URL",
        ),
        _ => by_status(status),
    }
}

const fn by_status(status: u16) -> (ErrorKind, &'static str) {
    match status {
        401 | 403 => (
            ErrorKind::Denied,
            "the storage account refuses this: check credentials, rights and the firewall of the account",
        ),
        404 => (ErrorKind::Unexpected, "the blob of this lock is gone"),
        408 | 500..=599 | 429 => (
            ErrorKind::Unavailable,
            "the storage account has too much to do or is in trouble: try again later",
        ),
        _ => (
            ErrorKind::Unexpected,
            "the storage account answered in a way that lockwork does not know: report it",
        ),
    }
}

const fn container() -> (ErrorKind, &'static str) {
    (
        ErrorKind::Denied,
        "the container does not exist: create it (az storage container create --name …), or let \
         lockwork do so by a right to create containers",
    )
}

/// There was no answer.
pub(crate) fn unanswered(error: &azure_core::Error) -> Error {
    let (kind, message) = match error.kind() {
        Kind::Credential => (
            ErrorKind::Denied,
            "no token could be had from Entra ID: see to it that there is an identity (az login, a \
             managed identity, or the variables of azure_identity)",
        ),
        Kind::Connection if is_about_certificates(error) => (
            ErrorKind::Denied,
            "the certificate of the storage account is not trusted here: check the host, and what \
             stands in between",
        ),
        Kind::Connection => (
            ErrorKind::Unavailable,
            "the storage account cannot be reached: check its name, the network and, for Azurite, \
             host and port",
        ),
        Kind::Io => (
            ErrorKind::Unavailable,
            "the connection to the storage account broke before there was an answer",
        ),
        _ => (
            ErrorKind::Unexpected,
            "the storage account answered something that cannot be read: check whether the URL leads to \
             Azure Blob storage",
        ),
    };
    Error::new(kind, message).because(root(error))
}

/// There was no answer in time.
pub(crate) fn late() -> Error {
    let message =
        "the storage account did not answer in time: check the network, and whether it runs";
    Error::new(ErrorKind::Unavailable, message)
}

/// The server wants to be left alone.
pub(crate) fn quiet(rest: Duration) -> Error {
    let message = "the storage account has asked to be left alone for a while: try again later";
    Error::new(ErrorKind::Unavailable, message).with("seconds", rest.as_secs_f32().ceil())
}

/// The last of the causes: those before it repeat the URL.
fn root(error: &azure_core::Error) -> String {
    let mut root: &dyn StdError = error;
    let mut causes = 0;
    while let Some(source) = root.source() {
        root = source;
        causes += 1;
    }
    match (error.kind(), causes) {
        // What a credential says may be all that a login server answered, and of two errors the second
        // still knows the URL.
        (Kind::Credential, _) | (_, 0 | 1) => error.kind().to_string(),
        _ => root.to_string(),
    }
}

fn is_about_certificates(error: &azure_core::Error) -> bool {
    let mut next: Option<&dyn StdError> = Some(error);
    while let Some(cause) = next {
        if cause.to_string().contains("certificate") {
            return true;
        }
        next = cause.source();
    }
    false
}
