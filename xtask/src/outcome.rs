//! How a chore ends, for every command here: done, or with one sentence that
//! tells the operator what to do.

use std::fmt;
use std::process::ExitCode;

/// What every chore and every step of one returns.
pub(crate) type Outcome<T = ()> = Result<T, Failure>;

/// Why a chore did not end well. The text is a whole sentence.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The command line made no sense; nothing was run.
    Usage(String),
    /// The chore ran and found something wrong.
    Failed(String),
    /// The same, and the report already said what to do in its last lines.
    AlreadySaid,
}

impl Failure {
    /// A command line that made no sense.
    pub(crate) fn usage(sentence: impl Into<String>) -> Self {
        Self::Usage(sentence.into())
    }

    /// A chore that found something wrong.
    pub(crate) fn failed(sentence: impl Into<String>) -> Self {
        Self::Failed(sentence.into())
    }

    /// 2 for a command line that made no sense, 1 for everything else.
    pub(crate) fn exit_code(&self) -> ExitCode {
        match self {
            Self::Usage(_) => ExitCode::from(2),
            Self::Failed(_) | Self::AlreadySaid => ExitCode::FAILURE,
        }
    }
}

/// A server that could not be had is something wrong.
impl From<lockwork_servers::Problem> for Failure {
    fn from(problem: lockwork_servers::Problem) -> Self {
        Self::failed(problem.to_string())
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Usage(sentence) | Self::Failed(sentence) => f.write_str(sentence),
            Self::AlreadySaid => f.write_str("What was printed above says what to do."),
        }
    }
}
