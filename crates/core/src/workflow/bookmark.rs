//! Where instances wait.

use super::{BookmarkId, ExecutionId, NodeId, StimulusHash, Time, Value};
use serde::{Deserialize, Serialize};

/// A point at which an instance waits, and what for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Bookmark {
    /// Its own.
    pub id: BookmarkId,
    /// What kind of stimulus resumes it.
    pub name: String,
    /// Which stimulus resumes it.
    pub hash: StimulusHash,
    /// What the hash was made of, for people.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub payload: Value,
    /// The activity that waits.
    pub node: NodeId,
    /// Which execution of it.
    pub execution: ExecutionId,
    /// Where in the activity to go on. If not said, the activity is completed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resume: Option<String>,
    /// Whether it is gone once it was resumed. One that stays is resumed by each stimulus.
    pub burns: bool,
    /// When it was made.
    pub created: Time,
    /// When it resumes by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub due: Option<Time>,
}
