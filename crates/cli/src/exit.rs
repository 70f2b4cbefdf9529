//! What the command's exit codes mean, and which error ends in which.

use lockwork::{Error, ErrorKind, workflow};
use std::{error::Error as StdError, fmt::Write};

/// The arguments are wrong: `2`, as everywhere.
pub(crate) const USAGE: u8 = 2;
/// Something was found that breaks a promise (`doctor`), or the instance failed or was ended (`run`).
pub(crate) const FOUND: u8 = 1;
/// There is nothing of that name: `EX_NOINPUT`.
pub(crate) const NOTHING: u8 = 66;
/// The backend cannot be reached, or refuses: `EX_UNAVAILABLE` of `sysexits.h`.
pub(crate) const UNAVAILABLE: u8 = 69;
/// The system, or somebody on it, got in the way of the guardian: `EX_OSERR`.
pub(crate) const SYSTEM: u8 = 71;
/// The lock was not free in time, or the instance is somebody else's now: `EX_TEMPFAIL`, try again later.
pub(crate) const BUSY: u8 = 75;
/// The lock was lost while the command ran.
pub(crate) const LOST: u8 = 76;

/// How the command ends when it cannot do what it was asked: with a code, and a sentence that helps.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct End {
    pub(crate) code: u8,
    pub(crate) sentence: String,
}

/// What comes of a verb: its exit code, unless said otherwise.
pub(crate) type Ended<T = u8> = Result<T, End>;

impl End {
    pub(crate) fn new(code: u8, sentence: impl Into<String>) -> Self {
        let sentence = sentence.into();
        Self { code, sentence }
    }
}

impl From<Error> for End {
    fn from(error: Error) -> Self {
        Self::new(code(&error), sentence(&error))
    }
}

impl From<workflow::Error> for End {
    fn from(error: workflow::Error) -> Self {
        use workflow::ErrorKind as Kind;
        let code = match error.kind() {
            Kind::Invalid | Kind::Unsupported => USAGE,
            Kind::NotFound => NOTHING,
            Kind::Conflict | Kind::Busy => BUSY,
            _ => UNAVAILABLE,
        };
        Self::new(code, sentence(&error))
    }
}

/// The exit code for an error of the library.
pub(crate) fn code(error: &Error) -> u8 {
    match error.kind() {
        ErrorKind::Invalid | ErrorKind::Unsupported => USAGE,
        ErrorKind::Lost => LOST,
        _ => UNAVAILABLE,
    }
}

/// The error and its causes in one line.
pub(crate) fn sentence(error: &dyn StdError) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        // Writing to a string does not fail.
        let _ = write!(text, ": {error}");
        cause = error.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_user_can_fix_is_usage_and_what_the_server_says_is_not() {
        let code_of = |kind| code(&Error::new(kind, "x"));
        assert_eq!(code_of(ErrorKind::Invalid), 2);
        assert_eq!(code_of(ErrorKind::Unsupported), 2);
        assert_eq!(code_of(ErrorKind::Lost), 76);
        assert_eq!(code_of(ErrorKind::Unavailable), 69);
        assert_eq!(code_of(ErrorKind::Denied), 69);
    }

    #[test]
    fn a_sentence_ends_with_its_cause() {
        let error = Error::new(ErrorKind::Invalid, "no").because("for this reason");
        assert_eq!(sentence(&error), "no: for this reason");
    }
}
