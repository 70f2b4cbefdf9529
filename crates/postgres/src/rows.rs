//! The rows of one statement, and how they reach the server: as arrays, one for each column.

use crate::{
    keys::Key,
    statement::{Op, Statements},
};
use sqlx::postgres::PgArguments;
use sqlx::{Arguments, error::BoxDynError};
use std::sync::Arc;

/// What one statement is to do, in order.
#[derive(Debug, Default)]
pub(crate) struct Rows {
    ops: Vec<i16>,
    lock: Vec<i64>,
    wait: Vec<i64>,
    turn: Vec<i64>,
    rise: Vec<i64>,
    of: Vec<i64>,
    registers: Vec<bool>,
    pair: Vec<bool>,
    /// Permits this session has: it would be granted those again.
    mine: Vec<i64>,
    /// Whether one of them is not for the short statement.
    not_plain: bool,
}

impl Rows {
    pub(crate) fn push(&mut self, op: Op, key: &Key) {
        self.add(op, key, key.lock, key.rise, 0, false)
    }

    /// A take that makes itself known as one who waits.
    pub(crate) fn push_registering(&mut self, op: Op, key: &Key) {
        self.add(op, key, key.lock, key.rise, 0, true)
    }

    /// One of `of` permits, except those that are `mine`, beginning to look at `start`.
    pub(crate) fn push_permit(
        &mut self,
        key: &Key,
        (start, of): (i64, i64),
        mine: &[i64],
        registers: bool,
    ) {
        self.mine.extend_from_slice(mine);
        self.add(Op::Permit, key, key.lock, start, of, registers)
    }

    /// The permit with this number.
    pub(crate) fn push_slot(&mut self, op: Op, key: &Key, slot: i64) {
        self.add(op, key, slot, key.rise, 0, false)
    }

    /// A number that is not the lock's own.
    pub(crate) fn push_number(&mut self, op: Op, key: &Key, number: i64) {
        let plain = Key {
            pair: false,
            ..*key
        };
        self.add(op, &plain, number, key.rise, 0, false)
    }

    fn add(&mut self, op: Op, key: &Key, lock: i64, rise: i64, of: i64, registers: bool) {
        self.not_plain |= key.pair || !op.is_plain();
        self.ops.push(op as i16);
        self.lock.push(lock);
        self.wait.push(key.wait);
        self.turn.push(key.turn);
        self.rise.push(rise);
        self.of.push(of);
        self.registers.push(registers);
        self.pair.push(key.pair);
    }

    pub(crate) const fn len(&self) -> usize {
        self.ops.len()
    }

    /// The statement for them, and they as its parameters.
    pub(crate) fn for_one_of(
        self,
        statements: &Statements,
    ) -> Result<(Arc<str>, PgArguments), BoxDynError> {
        let mut arguments = PgArguments::default();
        arguments.add(self.ops)?;
        arguments.add(self.lock)?;
        arguments.add(self.wait)?;
        if !self.not_plain {
            arguments.add(self.registers)?;
            return Ok((statements.plain.clone(), arguments));
        }
        arguments.add(self.turn)?;
        arguments.add(self.rise)?;
        arguments.add(self.of)?;
        arguments.add(self.registers)?;
        arguments.add(self.mine)?;
        arguments.add(self.pair)?;
        Ok((statements.whole.clone(), arguments))
    }
}
