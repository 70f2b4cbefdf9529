//! What a client is answered.

use super::{Bookmark, Incident, InstanceId, SubStatus, Values, VersionId};
use serde::{Deserialize, Serialize};

/// An instance that exists.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Created {
    /// The instance. Another one than asked for, if an earlier request had the same key.
    pub instance: InstanceId,
    /// What it is an instance of.
    pub version: VersionId,
    /// Whether this request created it.
    pub is_new: bool,
}

impl Created {
    /// An instance of `version`.
    #[must_use]
    pub const fn new(instance: InstanceId, version: VersionId, is_new: bool) -> Self {
        Self {
            instance,
            version,
            is_new,
        }
    }
}

/// How a burst ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Ran {
    /// The instance.
    pub instance: InstanceId,
    /// Whether there was a burst at all.
    pub delivery: Delivery,
    /// How far the instance is now.
    pub sub_status: SubStatus,
    /// Where it waits.
    pub bookmarks: Vec<Bookmark>,
    /// What failed in it so far.
    pub incidents: Vec<Incident>,
    /// What it has given out so far.
    pub output: Values,
}

impl Ran {
    /// An instance that is as far as `sub_status`, and has nothing to say.
    #[must_use]
    pub fn new(instance: InstanceId, delivery: Delivery, sub_status: SubStatus) -> Self {
        Self {
            instance,
            delivery,
            sub_status,
            bookmarks: Vec::new(),
            incidents: Vec::new(),
            output: Values::new(),
        }
    }
}

/// What became of a request to run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Delivery {
    /// There was a burst, and it was committed.
    Done,
    /// The bookmark was gone: somebody else was resumed by it. What should have been delivered was not.
    Consumed,
    /// The instance was over.
    Over,
}

/// What became of a request to cancel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Cancelled {
    /// The instance is cancelled.
    Done,
    /// A burst is under way, and ends with its next step.
    Requested,
    /// The instance was over.
    Over,
}
