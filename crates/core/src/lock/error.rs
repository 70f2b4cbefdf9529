//! What went wrong, sorted by what the caller can do about it.

use crate::fault::Fault;
use std::{borrow::Cow, error::Error as StdError, fmt};

/// A result whose error is [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// The cause of an [`Error`], as a driver gave it.
pub type BoxError = Box<dyn StdError + Send + Sync>;

/// What the caller can do. Contention is not here: a wait that runs out is `Ok(None)`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The lock was held and then lost: stop the protected work and take the lock anew.
    Lost,
    /// Waiting would never end: a cycle of waiters. Let go of what is held and begin again.
    Deadlock,
    /// This backend has no such mode: see [`Capability`](super::Capability), choose another.
    Unsupported,
    /// A name, option or URL is wrong, or a guard cannot do what was asked: fix the program.
    Invalid,
    /// The server refused the credentials or the right: fix the deployment.
    Denied,
    /// The server cannot be reached or is overloaded: try again later.
    Unavailable,
    /// [`Locks::close`](super::Locks::close) was called.
    Closed,
    /// Anything else: report it.
    Unexpected,
}

/// What went wrong: a sentence, a [kind](ErrorKind), whether trying again could help, and details.
///
/// Prints as one line without its cause; [`source`](StdError::source) has that. Never contains a
/// password or an owner id.
#[derive(Clone)]
pub struct Error(Box<Fault<ErrorKind>>);

impl Error {
    /// An error of `kind`. Transient if that is [`ErrorKind::Unavailable`].
    pub fn new(kind: ErrorKind, message: impl Into<Cow<'static, str>>) -> Self {
        let transient = kind == ErrorKind::Unavailable;
        Self(Box::new(Fault::new(kind, transient, message.into())))
    }

    /// Adds a detail the operator will ask for.
    #[must_use]
    pub fn with(mut self, key: &'static str, value: impl fmt::Display) -> Self {
        self.0.with(key, &value);
        self
    }

    /// Adds the cause.
    #[must_use]
    pub fn because(mut self, source: impl Into<BoxError>) -> Self {
        self.0.because(source.into());
        self
    }

    /// Says whether the same request could succeed a little later.
    #[must_use]
    pub fn transient(mut self, yes: bool) -> Self {
        self.0.transient = yes;
        self
    }

    /// What the caller can do.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// Whether the same request could succeed a little later. Decided where the driver's error
    /// was seen; nobody further up parses text.
    #[must_use]
    pub fn is_transient(&self) -> bool {
        self.0.transient
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

impl StdError for Error {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.0.source()
    }
}
