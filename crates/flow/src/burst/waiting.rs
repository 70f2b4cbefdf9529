//! What activities wait for, and the bookmarks that are made of it.

use super::Burst;
use crate::state::Number;
use lockwork_core::workflow::{
    Bookmark, BookmarkId, ExecutionId, Result, StimulusHash, Time, Value,
};

/// What an activity waits for.
#[derive(Clone, Debug, PartialEq)]
pub struct Waiting {
    name: String,
    payload: Value,
    only_this: bool,
    at: Option<String>,
    burns: bool,
    due: Option<Time>,
}

impl Waiting {
    /// For the stimulus with this name and payload, whoever else waits for the same. Once resumed, the activity is
    /// done.
    pub fn on(name: impl Into<String>, payload: Value) -> Self {
        Self {
            name: name.into(),
            payload,
            only_this: false,
            at: None,
            burns: true,
            due: None,
        }
    }

    /// For a moment.
    pub fn until(name: impl Into<String>, due: Time) -> Self {
        let mut waiting = Self::on(name, Value::Null);
        waiting.only_this = true;
        waiting.due = Some(due);
        waiting
    }

    /// For a stimulus that is meant for this execution alone.
    #[must_use]
    pub fn alone(mut self) -> Self {
        self.only_this = true;
        self
    }

    /// Once resumed, the activity goes on here.
    #[must_use]
    pub fn at(mut self, point: impl Into<String>) -> Self {
        self.at = Some(point.into());
        self
    }

    /// It goes on waiting after it was resumed.
    #[must_use]
    pub fn stays(mut self) -> Self {
        self.burns = false;
        self
    }
}

impl Burst {
    /// Makes a bookmark for an execution.
    pub(super) fn wait_for(&mut self, number: Number, waiting: Waiting) -> Result<BookmarkId> {
        let execution = ExecutionId::numbered(number);
        let only = waiting.only_this.then(|| {
            // Executions are numbered in each instance: alone they would be those of all instances.
            ExecutionId::new(&format!("{}:{number}", self.state.instance))
        });
        let only = only.transpose()?;
        let hash = StimulusHash::of(&waiting.name, &waiting.payload, only.as_ref())?;
        let id = self.state.number();
        let id = BookmarkId::new(&format!("{}:{id}", self.state.instance))?;
        let node = self.context(number)?.node.clone();
        self.state.bookmarks.push(Bookmark {
            id: id.clone(),
            name: waiting.name,
            hash,
            payload: waiting.payload,
            node,
            execution,
            resume: waiting.at,
            burns: waiting.burns,
            created: self.outside.now(),
            due: waiting.due,
        });
        Ok(id)
    }
}
