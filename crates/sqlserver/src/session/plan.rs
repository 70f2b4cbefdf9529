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
        self.given.clear();
        self.before.clear();
        for give in &batch.gives {
            self.plan_give(&mut statement, give);
        }
        for take in &batch.takes {
            self.plan_take(&mut statement, take);
        }
        statement
    }

    fn plan_give(&mut self, statement: &mut Statement, give: &Give<Key>) {
        let key = &give.key;
        if let Mode::Permit { .. } = give.mode {
            let slot = self.give_slot(key);
            return statement.give(&slot);
        }
        statement.give(key.resource());
        let has_risen = give.mode == Mode::Write && self.risen.remove(key);
        if has_risen && !give.downgrade {
            // Once for the upgrade, and once for what it rose from.
            statement.give(key.resource());
        }
    }

    fn give_slot(&mut self, key: &Key) -> String {
        let slots = self.slots.get_mut(key);
        let number = slots.and_then(Vec::pop).unwrap_or_default();
        if self.slots.get(key).is_some_and(Vec::is_empty) {
            self.slots.remove(key);
        }
        self.given.push((key.clone(), number));
        key.slot(number)
    }

    fn plan_take(&mut self, statement: &mut Statement, take: &Take<Key>) {
        let Mode::Permit { of } = take.mode else {
            return statement.take(take.key.resource(), take.mode);
        };
        let of = i64::from(of.get());
        let before = self.slots.get(&take.key).map_or(0, Vec::len);
        self.before.insert(take.key.clone(), before);
        // Not everybody begins with the same one.
        statement.take_permit(&take.key, rand::random_range(0..of), of);
    }

    /// Reads what the server said to each thing, and returns the takes of which that is not clear.
    pub(super) fn read<'b>(
        &mut self,
        batch: &'b Batch<Key>,
        said: Vec<Said>,
        answer: &mut Answer<Key>,
    ) -> Result<Vec<&'b Take<Key>>> {
        let gives = said
            .len()
            .checked_sub(batch.takes.len())
            .ok_or_else(nothing)?;
        if said[..gives].iter().any(|said| said.code < GRANTED) {
            return Err(self.contradiction());
        }
        let takes = batch.takes.iter().zip(said.into_iter().skip(gives));
        self.read_takes(takes, answer)
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
                WRONG if matches!(take.mode, Mode::Permit { .. }) => {}
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
        if take.upgrade {
            self.risen.insert(key.clone());
        }
        answer.taken.push(Taken { key, token });
    }

    /// After a statement that failed half way: what it took stays taken on the session, and what it
    /// gave back may be given back or not. One statement lets go of all of it, held or not.
    pub(super) fn plan_clean_up(&mut self, batch: &Batch<Key>) -> Result<Statement> {
        let mut statement = self.statement();
        for give in batch.gives.iter().filter(|give| !is_permit(give.mode)) {
            if give.downgrade {
                // How often it is held is not told: twice, or once by now.
                return Err(self.contradiction());
            }
            statement.drop_all(give.key.resource());
        }
        for (key, number) in std::mem::take(&mut self.given) {
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
                let before = self.before.get(key).copied().unwrap_or(0);
                let mine = self.slots.entry(key.clone()).or_default();
                mine.truncate(before);
                statement.drop_permits(key, of, mine);
            }
            _ if take.upgrade => {
                self.risen.remove(key);
                statement.drop_upgrade(key.resource());
            }
            _ => statement.drop_all(key.resource()),
        }
        Ok(())
    }
}

const fn is_permit(mode: Mode) -> bool {
    matches!(mode, Mode::Permit { .. })
}
