//! What a batch becomes: a statement, and what each answer means.

use super::{Connection, GRANTED, TIMED_OUT, WRONG, token};
use crate::{
    connect::nothing,
    errors::failed,
    keys::Key,
    statement::{Said, Statement},
};
use lockwork_core::lock::{
    Mode, Result,
    backend::session::{Answer, Batch, Give, Take, Taken},
};

/// More permits than these are not gone through one by one.
const MANY: i64 = 1000;

impl Connection {
    /// Leaves are nothing here: nobody is told that somebody waits.
    pub(super) fn plan(&mut self, batch: &Batch<Key>) -> Statement {
        let mut statement = self.statement();
        self.undo.forget();
        for give in &batch.gives {
            self.plan_give(&mut statement, give);
        }
        for take in &batch.takes {
            self.plan_take(&mut statement, take);
        }
        statement
    }

    fn plan_give(&mut self, statement: &mut Statement, give: &Give<Key>) {
        if let Mode::Permit { .. } = give.mode {
            let slot = self.give_slot(&give.key);
            return statement.give(&slot);
        }
        if give.mode == Mode::Read && self.readers.leave(&give.key) {
            return;
        }
        for resource in given(give).into_iter().flatten() {
            statement.give(resource);
        }
    }

    fn give_slot(&mut self, key: &Key) -> String {
        let slots = self.slots.get_mut(key);
        let number = slots.and_then(Vec::pop).unwrap_or_default();
        if self.slots.get(key).is_some_and(Vec::is_empty) {
            self.slots.remove(key);
        }
        self.undo.given.push((key.clone(), number));
        key.slot(number)
    }

    fn plan_take(&mut self, statement: &mut Statement, take: &Take<Key>) {
        match take.mode {
            Mode::Read if self.readers.any(&take.key) => statement.read_beside(&take.key),
            Mode::Permit { of } => {
                let of = i64::from(of.get());
                let before = self.slots.get(&take.key).map_or(0, Vec::len);
                self.undo.before.insert(take.key.clone(), before);
                // Not everybody begins with the same one.
                statement.take_permit(&take.key, rand::random_range(0..of), of);
            }
            _ => statement.take(take),
        }
    }

    /// Reads what the server said to each thing, and returns the takes of which that is not clear.
    pub(super) fn read<'b>(
        &mut self,
        batch: &'b Batch<Key>,
        said: Vec<Said>,
        answer: &mut Answer<Key>,
    ) -> Result<Vec<&'b Take<Key>>> {
        let gives = said.len().checked_sub(batch.takes.len());
        let (gives, takes) = said.split_at(gives.ok_or_else(nothing)?);
        if gives.iter().any(|said| said.code < GRANTED) {
            return Err(self.contradiction());
        }
        self.read_takes(batch.takes.iter().zip(takes.iter().copied()), answer)
    }

    pub(super) fn read_takes<'b>(
        &mut self,
        takes: impl Iterator<Item = (&'b Take<Key>, Said)>,
        answer: &mut Answer<Key>,
    ) -> Result<Vec<&'b Take<Key>>> {
        let mut unclear = Vec::new();
        for (take, said) in takes {
            match said.code {
                GRANTED.. => self.took(take, said, answer),
                TIMED_OUT => {}
                // Of a permit it says nothing more: the last of several was busy.
                WRONG if is_permit(take.mode) => {}
                WRONG => unclear.push(take),
                code => return Err(failed(code)),
            }
        }
        Ok(unclear)
    }

    fn took(&mut self, take: &Take<Key>, said: Said, answer: &mut Answer<Key>) {
        let key = take.key.clone();
        let token = match take.mode {
            Mode::Permit { .. } => {
                let slots = self.slots.entry(key.clone()).or_default();
                slots.extend(said.number);
                None
            }
            _ => token(said.number),
        };
        if take.mode == Mode::Read {
            self.readers.enter(&key);
            self.undo.readers.push(key.clone());
        }
        answer.taken.push(Taken { key, token });
    }

    /// After a statement that failed half way: what it took stays taken on the session, and what it
    /// gave back may be given back or not. One statement lets go of all of it, held or not.
    pub(super) fn plan_clean_up(&mut self, batch: &Batch<Key>) -> Result<Statement> {
        let mut statement = self.statement();
        for reader in std::mem::take(&mut self.undo.readers) {
            self.readers.leave(&reader);
        }
        for give in batch.gives.iter().filter(|give| !is_permit(give.mode)) {
            if give.mode == Mode::Read && self.readers.any(&give.key) {
                continue;
            }
            for resource in given(give).into_iter().flatten() {
                statement.drop_all(resource);
            }
        }
        for (key, number) in std::mem::take(&mut self.undo.given) {
            statement.drop_all(&key.slot(number));
        }
        for take in &batch.takes {
            self.plan_drop(&mut statement, take)?;
        }
        Ok(statement)
    }

    fn plan_drop(&mut self, statement: &mut Statement, take: &Take<Key>) -> Result<()> {
        let key = &take.key;
        match take.mode {
            Mode::Permit { of } => {
                let of = i64::from(of.get());
                // Which one it took, if any, only the server knows. Of too many it is not asked.
                if of > MANY {
                    return Err(self.contradiction());
                }
                let before = self.undo.before.get(key).copied().unwrap_or(0);
                let mine = self.slots.entry(key.clone()).or_default();
                mine.truncate(before);
                statement.drop_permits(key, of, mine);
            }
            Mode::Read if self.readers.any(key) => {}
            mode => {
                for resource in resources(key, mode, take.upgrade).into_iter().flatten() {
                    statement.drop_all(resource);
                }
            }
        }
        Ok(())
    }
}

fn given(give: &Give<Key>) -> [Option<&str>; 2] {
    resources(&give.key, give.mode, give.downgrade)
}

/// What is held in this mode, the lock before the gate: of a rise from upgradeable reader to writer
/// the lock alone.
fn resources(key: &Key, mode: Mode, is_rise: bool) -> [Option<&str>; 2] {
    let lock = Some(key.resource());
    match (key.gate(), mode) {
        (Some(gate), Mode::Upgradeable) => [None, Some(gate)],
        (Some(gate), Mode::Write) if !is_rise => [lock, Some(gate)],
        _ => [lock, None],
    }
}

const fn is_permit(mode: Mode) -> bool {
    matches!(mode, Mode::Permit { .. })
}
