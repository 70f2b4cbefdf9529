//! Waiting in the memory backend: for a turn, or to upgrade.

use super::Inner;
use crate::lock::{LockId, in_line::Leave};
use std::sync::Arc;

/// Somebody's place in a lock's line.
#[derive(Debug)]
pub(super) struct Waiting {
    memory: Arc<Inner>,
    id: LockId,
    number: u64,
}

impl Waiting {
    pub(super) const fn new(memory: Arc<Inner>, id: LockId, number: u64) -> Self {
        Self { memory, id, number }
    }
}

impl Leave for Waiting {
    fn leave(&self) -> bool {
        let left = self
            .memory
            .locks
            .visit(&self.id, |lock| lock.leave_queue(self.number));
        let left = left.unwrap_or(false);
        if left {
            // The one behind may be able to go where this one could not.
            self.memory.advance(&self.id);
        }
        left
    }
}

/// An upgrade under way. Dropped before it [succeeds](UpgradeClaim::succeed), the reader is what
/// it was, even if it had just been made the writer.
#[derive(Debug)]
pub(super) struct UpgradeClaim {
    memory: Arc<Inner>,
    id: LockId,
    number: u64,
    succeeded: bool,
}

impl UpgradeClaim {
    pub(super) const fn new(memory: Arc<Inner>, id: LockId, number: u64) -> Self {
        Self {
            memory,
            id,
            number,
            succeeded: false,
        }
    }

    pub(super) fn succeed(mut self) {
        self.succeeded = true;
    }
}

impl Drop for UpgradeClaim {
    fn drop(&mut self) {
        if !self.succeeded {
            self.memory
                .locks
                .visit(&self.id, |lock| lock.give_up_upgrade(self.number));
            self.memory.advance(&self.id);
        }
    }
}
