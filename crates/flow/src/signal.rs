//! What comes up from inside of an activity, until somebody has an answer.

use lockwork_core::workflow::Failure;

/// What comes up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Signal {
    /// The innermost loop ends.
    Break,
    /// An activity failed.
    Failed(Failure),
}

/// What to do with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Somebody further out may know.
    Pass,
    /// What is under way inside of this activity is cancelled, and it is done.
    Done,
    /// What is under way inside of it is cancelled, and what it has scheduled since goes on.
    Handled,
}
