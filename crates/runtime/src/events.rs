//! What observers are told, once it is written down.

use lockwork_core::workflow::{InstanceId, SubStatus};
use lockwork_flow::{Entry, Task};
use std::sync::Arc;
use tokio::sync::broadcast;

/// Something that was written down. An observer that is too slow misses some, and can look into the store.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Event {
    /// An instance was created.
    Created(InstanceId),
    /// A commit of an instance counts.
    Committed {
        /// The instance.
        instance: InstanceId,
        /// How far it is now.
        sub_status: SubStatus,
        /// What has happened since the last one.
        journal: Arc<[Entry]>,
    },
    /// Somebody outside shall do something.
    Task(Task),
    /// Another instance runs, and one only may: this one was not started.
    NotStarted {
        /// The one that was not.
        instance: InstanceId,
    },
    /// Something was not done, and is among the dead letters.
    Buried {
        /// What it was called.
        id: String,
        /// What went wrong.
        error: String,
    },
}

/// Where events are told.
#[derive(Clone, Debug)]
pub(crate) struct Events(broadcast::Sender<Event>);

impl Events {
    pub(crate) fn new() -> Self {
        Self(broadcast::Sender::new(1024))
    }

    pub(crate) fn tell(&self, event: Event) {
        // That nobody listens is no error.
        let _ = self.0.send(event);
    }

    pub(crate) fn is_heard(&self) -> bool {
        self.0.receiver_count() > 0
    }

    pub(crate) fn listen(&self) -> broadcast::Receiver<Event> {
        self.0.subscribe()
    }
}
