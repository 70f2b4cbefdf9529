//! Why a server could not be had, for whoever wanted it: one sentence that
//! tells what to do.

use std::fmt;
use std::path::Path;

/// What every step here returns.
pub type Outcome<T = ()> = Result<T, Problem>;

/// What went wrong, as a whole sentence.
#[derive(Clone)]
pub struct Problem(String);

impl Problem {
    /// A problem told by this sentence.
    pub fn new(sentence: impl Into<String>) -> Self {
        Self(sentence.into())
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The sentence as it is: tests show a problem by unwrapping it.
impl fmt::Debug for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Problem {}

/// The problem with a path that could not be read or written.
pub(crate) fn unusable(path: &Path, error: &std::io::Error) -> Problem {
    Problem::new(format!(
        "{} cannot be used ({error}); check that it is there and that you may read and write it.",
        path.display()
    ))
}
