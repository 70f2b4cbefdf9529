//! A store that forgets everything with the process: for tests, and for workflows that need not outlive it.

mod definitions;
mod errands;
mod instances;
mod jobs;
mod nodes;
mod stimuli;

use crate::{clock::lock, store::derived};
use errands::Errands;
use lockwork_core::workflow::{
    Answer, Bookmark, BookmarkId, Error, ErrorKind, InstanceId, Result, Time,
};
use std::sync::Mutex;

/// A store in memory. Clones of its `Arc` are nodes that share it.
#[derive(Debug, Default)]
pub struct MemoryStore {
    inner: Mutex<Inner>,
}

/// Everything, under one lock: each operation is a transaction.
#[derive(Debug, Default)]
struct Inner {
    instances: instances::Instances,
    errands: Errands,
    stimuli: stimuli::Stimuli,
    definitions: definitions::Definitions,
    jobs: jobs::Jobs,
    nodes: nodes::Nodes,
    counted: u64,
}

impl MemoryStore {
    /// An empty one.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    fn answer<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Inner) -> Result<T>,
    ) -> Answer<'_, T> {
        Box::pin(std::future::ready(work(&mut lock(&self.inner))))
    }
}

impl Inner {
    fn count(&mut self) -> u64 {
        self.counted += 1;
        self.counted
    }

    /// A bookmark that is there, with its instance's correlation.
    fn bookmark(
        &self,
        id: &BookmarkId,
        instance: &InstanceId,
    ) -> Option<(&Bookmark, Option<&str>)> {
        let row = self.instances.rows.get(instance)?;
        let bookmark = row.state.waiting().iter().find(|one| one.id == *id)?;
        Some((bookmark, row.state.correlation.as_deref()))
    }

    /// Whatever stands in the way of a bookmark is gone, or the bookmark is new: the oldest stimulus that waits for it
    /// gets it, or its time comes.
    fn offer(&mut self, id: &BookmarkId, instance: &InstanceId, now: Time) {
        if self.errands.is_promised(id) {
            return;
        }
        let Some((bookmark, correlation)) = self.bookmark(id, instance) else {
            return;
        };
        let found = self.stimuli.oldest_for(instance, correlation, bookmark);
        let due = bookmark.due;
        if let Some(waiting) = found.and_then(|at| self.stimuli.remove(at)) {
            let errand = derived::delivery(&waiting.id, instance, id, waiting.stimulus, now);
            self.add_errand(errand);
        } else if let Some(due) = due {
            self.stimuli
                .timers
                .insert((due, id.clone(), instance.clone()));
        }
    }
}

fn fenced(what: &'static str) -> Error {
    Error::new(ErrorKind::Fenced, what)
}
