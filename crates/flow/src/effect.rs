//! What leaves an instance: collected while a burst runs, written with its commit, carried out afterwards.

use lockwork_core::workflow::{BookmarkId, Create, InstanceId, Stimulus, Value};
use serde::{Deserialize, Serialize};

/// Something that leaves an instance. What it is called was decided before anything was written, so whoever
/// carries it out twice does it once.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Effect {
    /// Something happened. Its [key](Stimulus::key) is its own.
    Send(Stimulus),
    /// Another instance shall exist, and run.
    Dispatch {
        /// What it is called.
        instance: InstanceId,
        /// What it is made of.
        create: Create,
    },
    /// Another instance shall end.
    Cancel(InstanceId),
    /// Long work, done outside of the instance. Its result resumes the bookmark; nobody needs it once that is gone.
    Job {
        /// What it resumes.
        bookmark: BookmarkId,
        /// The work.
        job: Job,
    },
    /// Somebody outside shall do something and say when it is done. Nobody needs it once the bookmark is gone.
    Task {
        /// What waits for it.
        bookmark: BookmarkId,
        /// What to do.
        task: Task,
    },
}

/// Long work that a node does outside of the instance.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Job {
    /// Who can do it.
    pub kind: String,
    /// What it is given.
    #[serde(default)]
    pub with: Value,
    /// The same if it is done again because a node died, another if a retry policy decided so.
    pub key: String,
}

/// What somebody outside shall do.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Task {
    /// By what its end is told.
    pub id: String,
    /// What to do.
    pub name: String,
    /// What with.
    #[serde(default)]
    pub payload: Value,
    /// For whom.
    pub instance: InstanceId,
}
