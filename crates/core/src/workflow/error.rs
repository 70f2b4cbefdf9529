//! What went wrong with a workflow, sorted by what the caller can do about it.

use crate::fault::Fault;
use std::{borrow::Cow, error::Error as StdError, fmt};

/// A result whose error is [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What the caller can do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// There is no such definition or instance: check the id, or create it.
    NotFound,
    /// A definition, an id or a request is wrong: fix it. The details name the definition, the node and the
    /// field.
    Invalid,
    /// It exists already, or another one like it runs and there may be one only: nothing was changed.
    Conflict,
    /// Somebody else works on it and did not finish in time: try again later.
    Busy,
    /// Somebody else has claimed the instance since: nothing of this work counts. Whoever has the claim goes on.
    Fenced,
    /// This node takes no work, because it is paused or about to end: ask another one.
    Stopping,
    /// What was found was written by a newer version, or this build lacks what it needs: update it.
    Unsupported,
    /// The store or the lock server refused the credentials or the right: fix the deployment.
    Denied,
    /// The store or the lock server cannot be reached: try again later.
    Unavailable,
    /// Anything else: report it.
    Unexpected,
}

/// What went wrong: a sentence, a [kind](ErrorKind), whether trying again could help, and details.
///
/// Prints as one line without its cause; [`source`](StdError::source) has that. Never contains the value of a
/// variable that is marked as secret.
#[derive(Clone)]
pub struct Error(Box<Fault<ErrorKind>>);

impl Error {
    /// An error of `kind`. Transient if that is [`ErrorKind::Unavailable`]: somebody who is busy may stay so.
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
    pub fn because(mut self, source: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
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

    /// Whether the same request could succeed a little later.
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
