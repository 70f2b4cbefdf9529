//! What happened in an instance, in the order in which it happened.

use lockwork_core::workflow::{ExecutionId, NodeId, Time};
use serde::{Deserialize, Serialize};

/// One thing that happened in an instance. Values that are secret are not in it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Entry {
    /// Which one, from zero.
    pub sequence: u64,
    /// When.
    pub at: Time,
    /// What.
    pub happened: Happened,
    /// To which activity; to none of them, if it was the instance.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<NodeId>,
    /// To which execution of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub execution: Option<ExecutionId>,
    /// The outcome, the failure or the text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// What happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub enum Happened {
    /// An activity began.
    Started,
    /// An activity was resumed.
    Resumed,
    /// An activity is done.
    Completed,
    /// An activity was ended by another.
    Cancelled,
    /// An activity failed.
    Faulted,
    /// An activity will be begun again.
    Retrying,
    /// An activity had something to say.
    Logged,
    /// The instance began.
    InstanceStarted,
    /// The instance waits.
    InstanceSuspended,
    /// A node that was about to end stopped between two steps.
    InstanceInterrupted,
    /// The instance came to its end.
    InstanceFinished,
    /// Somebody ended the instance.
    InstanceCancelled,
    /// The instance failed.
    InstanceFaulted,
}
