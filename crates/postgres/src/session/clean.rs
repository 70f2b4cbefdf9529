//! After a statement that failed half way: what it took stays taken on the session, and what it
//! gave back may be given back or not. One statement lets go of all of it, held or not.

use super::Connection;
use crate::{keys::Key, rows::Rows, statement::Op};
use lockwork_core::lock::{
    Mode,
    backend::session::{Batch, Take},
};

/// What is needed to undo an exchange and is not in its batch.
#[derive(Debug, Default)]
pub(super) struct Undo {
    /// Permits that were to be given back.
    given: Vec<(Key, i64)>,
    /// How many permits there were before.
    before: Vec<(Key, usize)>,
}

impl Undo {
    pub(super) fn forget(&mut self) {
        self.given.clear();
        self.before.clear();
    }

    pub(super) fn give(&mut self, key: Key, slot: i64) {
        self.given.push((key, slot));
    }

    /// A permit is to be taken where there are `before` by now. The first word counts: one that
    /// makes itself known is asked for twice.
    pub(super) fn take(&mut self, key: Key, before: usize) {
        if !self.before.iter().any(|(known, _)| *known == key) {
            self.before.push((key, before));
        }
    }
}

impl Connection {
    pub(super) fn plan_clean_up(&mut self, batch: &Batch<Key>) -> Rows {
        let mut rows = Rows::default();
        for give in batch.gives.iter().filter(|give| !is_permit(give.mode)) {
            // Whatever it had risen from.
            let all_of_it = give.mode == Mode::Write && !give.downgrade;
            rows.push(Op::Drop, &give.key);
            if all_of_it || give.mode != Mode::Exclusive && !give.downgrade {
                rows.push(Op::DropShared, &give.key);
                rows.push_number(Op::Drop, &give.key, give.key.rise);
            }
        }
        for (key, slot) in std::mem::take(&mut self.undo.given) {
            rows.push_slot(Op::Drop, &key, slot);
        }
        for take in &batch.takes {
            self.drop_take(&mut rows, take);
            self.drop_waiting(&mut rows, take);
        }
        for take in &batch.leaves {
            self.drop_waiting(&mut rows, take);
        }
        rows
    }

    fn drop_take(&mut self, rows: &mut Rows, take: &Take<Key>) {
        let key = &take.key;
        match take.mode {
            Mode::Permit { of } => self.drop_slots(rows, key, i64::from(of.get())),
            _ => rows.push(Op::Drop, key),
        }
        if matches!(take.mode, Mode::Read | Mode::Upgradeable) {
            rows.push(Op::DropShared, key);
            rows.push_number(Op::DropShared, key, key.turn);
        }
        if take.mode == Mode::Upgradeable {
            rows.push_number(Op::Drop, key, key.rise);
        }
        if take.upgrade {
            self.risen.remove(key);
        }
    }

    fn drop_slots(&mut self, rows: &mut Rows, key: &Key, of: i64) {
        let before = self.undo.before.iter().find(|(known, _)| known == key);
        let before = before.map_or(0, |(_, before)| *before);
        let mine = self.slots.entry(*key).or_default();
        mine.truncate(before);
        let others = (0..of).map(|number| key.slot(number));
        for slot in others.filter(|slot| !mine.contains(slot)) {
            rows.push_slot(Op::Drop, key, slot);
        }
    }

    /// Nobody knows any more that we wait.
    fn drop_waiting(&mut self, rows: &mut Rows, take: &Take<Key>) {
        let key = &take.key;
        self.known.remove(&key.wait);
        self.stale.retain(|known| known.key != *key);
        rows.push_number(Op::DropShared, key, key.wait);
        rows.push_number(Op::Drop, key, key.turn);
    }
}

const fn is_permit(mode: Mode) -> bool {
    matches!(mode, Mode::Permit { .. })
}
