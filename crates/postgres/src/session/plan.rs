//! What a batch becomes: rows for the statement, and what each answer means.

use super::{Connection, Known};
use crate::{
    keys::Key,
    rows::Rows,
    statement::{GIVEN_AND_TOLD, Op, REFUSED, UNREGISTERED},
};
use lockwork_core::lock::{
    Mode, Result, Token,
    backend::session::{Answer, Batch, Give, Take, Taken},
};

/// Rows, and what each is for.
#[derive(Debug, Default)]
pub(super) struct Plan<'b> {
    rows: Rows,
    steps: Vec<Step<'b>>,
}

/// What one row is for.
#[derive(Clone, Copy, Debug)]
pub(super) enum Step<'b> {
    Give(&'b Give<Key>),
    /// The turn of the writer whose take comes next.
    Turn,
    Take(&'b Take<Key>),
    /// A take that makes itself known.
    Register(&'b Take<Key>),
    Leave,
}

impl<'b> Plan<'b> {
    pub(super) fn into_parts(self) -> (Rows, Vec<Step<'b>>) {
        (self.rows, self.steps)
    }

    fn leave(&mut self, known: Known) {
        if known.waits {
            self.rows.push(Op::Leave, &known.key);
            self.steps.push(Step::Leave);
        }
        if known.turn {
            self.rows.push(Op::LeaveTurn, &known.key);
            self.steps.push(Step::Leave);
        }
    }

    fn turn(&mut self, key: &Key) {
        self.rows.push(Op::Turn, key);
        self.steps.push(Step::Turn);
    }
}

impl Connection {
    pub(super) fn plan<'b>(&mut self, batch: &'b Batch<Key>) -> Plan<'b> {
        let mut plan = Plan::default();
        self.undo.forget();
        for give in &batch.gives {
            self.plan_give(&mut plan, give);
        }
        for known in std::mem::take(&mut self.stale) {
            plan.leave(known);
        }
        for take in &batch.leaves {
            if let Some(known) = self.known.remove(&take.key.wait) {
                plan.leave(known);
            }
        }
        for take in &batch.takes {
            let known = self.known.get(&take.key.wait);
            if take.mode == Mode::Write && known.is_some_and(|known| !known.turn) {
                plan.turn(&take.key);
            }
            self.plan_take(&mut plan, take, false);
            plan.steps.push(Step::Take(take));
        }
        plan
    }

    fn plan_give<'b>(&mut self, plan: &mut Plan<'b>, give: &'b Give<Key>) {
        let key = &give.key;
        match give.mode {
            Mode::Read => plan.rows.push(Op::GiveRead, key),
            Mode::Upgradeable => plan.rows.push(Op::GiveUpgradeable, key),
            Mode::Permit { .. } => {
                let slot = self.give_slot(key);
                plan.rows.push_slot(Op::GiveExclusive, key, slot);
            }
            Mode::Write if self.risen.remove(key) && !give.downgrade => {
                plan.rows.push(Op::GiveUpgraded, key);
            }
            _ => plan.rows.push(Op::GiveExclusive, key),
        }
        plan.steps.push(Step::Give(give));
    }

    fn plan_take(&mut self, plan: &mut Plan<'_>, take: &Take<Key>, registers: bool) {
        let key = &take.key;
        let op = match take.mode {
            Mode::Read => Op::Read,
            Mode::Upgradeable => Op::Upgradeable,
            Mode::Permit { of } => {
                let of = i64::from(of.get());
                // Not everybody begins with the same one.
                let start = rand::random_range(0..of);
                let mine = self.slots.entry(*key).or_default();
                self.undo.take(*key, mine.len());
                plan.rows.push_permit(key, (start, of), mine, registers);
                return;
            }
            _ => Op::Exclusive,
        };
        match registers {
            true => plan.rows.push_registering(op, key),
            false => plan.rows.push(op, key),
        }
    }

    pub(super) fn plan_registering<'b>(&mut self, plan: &mut Plan<'b>, take: &'b Take<Key>) {
        if take.mode == Mode::Write {
            plan.turn(&take.key);
        }
        self.plan_take(plan, take, true);
        plan.steps.push(Step::Register(take));
    }

    /// Reads what the server said to each row, and returns the takes that were refused and that
    /// others do not know of.
    pub(super) fn read<'b>(
        &mut self,
        steps: Vec<(Step<'b>, Option<i64>)>,
        answer: &mut Answer<Key>,
    ) -> Result<Vec<&'b Take<Key>>> {
        let mut unknown = Vec::new();
        let mut turn = false;
        for (step, said) in steps {
            let Some(said) = said else {
                return Err(self.contradiction());
            };
            match step {
                Step::Leave => {}
                Step::Turn => turn = said == 1,
                Step::Give(give) if said == GIVEN_AND_TOLD => answer.contended.push(give.key),
                Step::Give(_) => {}
                Step::Take(take) | Step::Register(take) => {
                    let registered = matches!(step, Step::Register(_)) && said != UNREGISTERED;
                    self.note(take.key, registered, std::mem::take(&mut turn));
                    match said {
                        REFUSED | UNREGISTERED if self.is_known(take) => {}
                        REFUSED | UNREGISTERED => unknown.push(take),
                        _ => self.took(take, said, answer),
                    }
                }
            }
        }
        Ok(unknown)
    }

    /// Notes what others know now of our waiting for `key`.
    fn note(&mut self, key: Key, waits: bool, turn: bool) {
        if !waits && !turn {
            return;
        }
        match self.known.get_mut(&key.wait) {
            Some(known) => known.turn |= turn,
            None if waits => drop(self.known.insert(key.wait, Known { key, waits, turn })),
            // A turn is of no use to one of whom nobody knows that it waits.
            None => self.stale.push(Known { key, waits, turn }),
        }
    }

    fn is_known(&self, take: &Take<Key>) -> bool {
        self.known.contains_key(&take.key.wait)
    }

    fn took(&mut self, take: &Take<Key>, said: i64, answer: &mut Answer<Key>) {
        let key = take.key;
        let token = match take.mode {
            Mode::Permit { .. } => {
                self.slots.entry(key).or_default().push(key.slot(said));
                None
            }
            // Zero stands for none.
            _ => u64::try_from(said).ok().and_then(Token::from_server),
        };
        if take.upgrade {
            self.risen.insert(key);
        }
        self.stale.extend(self.known.remove(&key.wait));
        answer.taken.push(Taken { key, token });
    }

    fn give_slot(&mut self, key: &Key) -> i64 {
        let slots = self.slots.get_mut(key);
        let slot = slots.and_then(Vec::pop).unwrap_or(key.lock);
        if self.slots.get(key).is_some_and(Vec::is_empty) {
            self.slots.remove(key);
        }
        self.undo.give(*key, slot);
        slot
    }
}
