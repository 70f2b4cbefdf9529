//! Tries that come too late: of owners whose release the server has seen.
//!
//! A try that was sent, given up and released can still arrive afterwards, over a connection that
//! is already dead at its other end. Nobody would ever release what it were granted.

use lockwork::{Instant, LockId, OwnerId};
use std::collections::{BTreeSet, HashMap};

/// Whom to refuse, and until when.
#[derive(Debug, Default)]
pub(super) struct Tombstones {
    standing: HashMap<(LockId, OwnerId), Instant>,
    by_end: BTreeSet<(Instant, LockId, OwnerId)>,
}

impl Tombstones {
    pub(super) fn put(&mut self, id: LockId, owner: OwnerId, until: Instant) {
        while let Some((until, id, owner)) = self.by_end.pop_first() {
            if !until.has_passed() {
                self.by_end.insert((until, id, owner));
                break;
            }
            self.standing.remove(&(id, owner));
        }
        self.by_end.insert((until, id.clone(), owner));
        self.standing.insert((id, owner), until);
    }

    pub(super) fn stand_for(&self, id: &LockId, owner: OwnerId) -> bool {
        self.standing
            .get(&(id.clone(), owner))
            .is_some_and(|until| !until.has_passed())
    }
}
