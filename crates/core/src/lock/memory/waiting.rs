//! Waiting in the memory backend: for a turn, or to upgrade.

use super::{Inner, MemoryHold};
use crate::lock::{Deadline, LockId, Token, backend::Owned};
use std::sync::Arc;
use tokio::sync::oneshot;

/// A place in the line. Dropped, it is given up.
#[derive(Debug)]
pub(super) struct Waiting {
    memory: Arc<Inner>,
    id: LockId,
    number: u64,
    turn: oneshot::Receiver<Owned<MemoryHold>>,
}

impl Waiting {
    pub(super) const fn new(
        memory: Arc<Inner>,
        id: LockId,
        number: u64,
        turn: oneshot::Receiver<Owned<MemoryHold>>,
    ) -> Self {
        Self {
            memory,
            id,
            number,
            turn,
        }
    }

    pub(super) async fn turn(mut self, deadline: Deadline) -> Option<Owned<MemoryHold>> {
        if let Some(turn) = deadline.wait_for(&mut self.turn).await {
            return turn.ok();
        }
        if self.leave() {
            return None;
        }
        // Let in at the very last moment: the hold is on its way.
        (&mut self.turn).await.ok()
    }

    fn leave(&self) -> bool {
        self.memory
            .locks
            .visit(&self.id, |lock| lock.leave_queue(self.number))
            .unwrap_or(false)
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        // The one behind may be able to go where this one could not.
        if self.leave() {
            self.memory.advance(&self.id);
        }
    }
}

/// An upgrade under way. Dropped before it [succeeds](UpgradeClaim::succeed), the reader is what
/// it was, even if it had just been made the writer.
#[derive(Debug)]
pub(super) struct UpgradeClaim {
    memory: Arc<Inner>,
    id: LockId,
    number: u64,
    taken: Option<Option<Token>>,
}

impl UpgradeClaim {
    pub(super) const fn new(memory: Arc<Inner>, id: LockId, number: u64) -> Self {
        Self {
            memory,
            id,
            number,
            taken: None,
        }
    }

    pub(super) fn succeed(mut self, token: Option<Token>) {
        self.taken = Some(token);
    }
}

impl Drop for UpgradeClaim {
    fn drop(&mut self) {
        self.memory
            .locks
            .visit(&self.id, |lock| lock.end_upgrade(self.number, self.taken));
        self.memory.advance(&self.id);
    }
}
