//! How far an instance is.

use serde::{Deserialize, Serialize};

/// Whether an instance is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Status {
    /// It may go on.
    Running,
    /// Nothing changes it any more.
    Finished,
}

/// How far an instance is, more exactly.
///
/// ```
/// use lockwork_core::workflow::{Status, SubStatus};
///
/// assert_eq!(SubStatus::Suspended.status(), Status::Running);
/// assert_eq!(SubStatus::Cancelled.status(), Status::Finished);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum SubStatus {
    /// Created, and nothing of it was executed.
    Pending,
    /// A burst is under way, or was when the last commit was made.
    Executing,
    /// It waits at its bookmarks.
    Suspended,
    /// A node that was about to end stopped it between two steps; any node goes on from there.
    Interrupted,
    /// It came to its end.
    Finished,
    /// Somebody ended it.
    Cancelled,
    /// It failed.
    Faulted,
}

impl SubStatus {
    /// Each of them.
    pub const ALL: [Self; 7] = [
        Self::Pending,
        Self::Executing,
        Self::Suspended,
        Self::Interrupted,
        Self::Finished,
        Self::Cancelled,
        Self::Faulted,
    ];

    /// Whether an instance in this state is over.
    #[must_use]
    pub const fn status(self) -> Status {
        match self {
            Self::Pending | Self::Executing | Self::Suspended | Self::Interrupted => {
                Status::Running
            }
            Self::Finished | Self::Cancelled | Self::Faulted => Status::Finished,
        }
    }
}

/// How far one execution of an activity is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ActivityStatus {
    /// Scheduled, and not begun.
    Pending,
    /// Begun: also while it waits.
    Running,
    /// Done.
    Completed,
    /// Ended by somebody else.
    Cancelled,
    /// Failed.
    Faulted,
}

impl ActivityStatus {
    /// Whether nothing changes it any more.
    #[must_use]
    pub const fn is_over(self) -> bool {
        match self {
            Self::Pending | Self::Running | Self::Faulted => false,
            Self::Completed | Self::Cancelled => true,
        }
    }
}
