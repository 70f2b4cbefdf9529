//! What failed, and what becomes of the rest.

use super::{ExecutionId, NodeId, Time};
use serde::{Deserialize, Serialize};

/// An activity that failed and was not helped by anybody around it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Incident {
    /// The activity.
    pub node: NodeId,
    /// Its type.
    pub activity: String,
    /// Which execution of it.
    pub execution: ExecutionId,
    /// When.
    pub at: Time,
    /// What went wrong.
    pub failure: Failure,
}

/// What went wrong in an activity.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Failure {
    /// By what handlers know it: `http.timeout`, say.
    pub code: String,
    /// For people.
    pub message: String,
    /// Whether the same could succeed later.
    #[serde(default)]
    pub transient: bool,
}

impl Failure {
    /// One that would be the same a little later.
    pub fn new(code: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            code: code.into(),
            message: message.into(),
            transient: false,
        }
    }

    /// One that may be over a little later.
    #[must_use]
    pub fn may_pass(mut self) -> Self {
        self.transient = true;
        self
    }
}

/// What becomes of an instance when an activity fails and nobody around it helps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum IncidentStrategy {
    /// The instance is over, [faulted](super::SubStatus::Faulted).
    #[default]
    Fault,
    /// Other branches go on; the instance waits for somebody to retry what failed.
    Continue,
}
