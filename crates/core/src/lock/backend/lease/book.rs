//! The book of leases: what is due when. Called under its lock; it waits for nothing.

use super::{LeaseServer, Renewal, hold::Cell};
use crate::lock::{Instant, Loss};
use std::{
    collections::{BTreeSet, HashMap},
    hash::{BuildHasherDefault, Hasher},
    sync::Arc,
    time::Duration,
};

#[derive(Debug)]
pub(super) struct Book<S: LeaseServer> {
    kept: HashMap<u64, Kept<S>, BuildHasherDefault<Spread>>,
    /// When each lease next needs attention: a renewal, or its end.
    agenda: BTreeSet<(Instant, u64)>,
    last_number: u64,
    /// Until when the keeper sleeps unless it is woken.
    asleep_until: Instant,
    closed: bool,
}

#[derive(Debug)]
struct Kept<S: LeaseServer> {
    cell: Arc<Cell<S>>,
    /// When to renew; `None` while a renewal is under way, or if there is to be none.
    renew_at: Option<Instant>,
    /// Its entry in the agenda.
    due: Instant,
}

/// Numbers that are counted here, and not chosen by anybody, need no hash that nobody can foresee.
#[derive(Debug, Default)]
struct Spread(u64);

impl Hasher for Spread {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_u64(u64::from(*byte));
        }
    }

    fn write_u64(&mut self, number: u64) {
        // 2^64 by the golden ratio, as Knuth has it (TAOCP 6.4): neighbours are far from each other.
        self.0 = (self.0 ^ number).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    }
}

/// What is due.
pub(super) struct Due<S: LeaseServer> {
    pub(super) expired: Vec<Arc<Cell<S>>>,
    /// What was being given back, and has run out meanwhile.
    pub(super) over: Vec<Arc<Cell<S>>>,
    pub(super) renew: Vec<(u64, Arc<Cell<S>>)>,
    /// When to look again; `None` when there is nothing to look for.
    pub(super) next: Option<Instant>,
    /// No lease is left and none will come.
    pub(super) ended: bool,
}

/// How long after a failed renewal to try again, as a part of the lease's time.
const RETRY: u32 = 12;

impl<S: LeaseServer> Book<S> {
    /// Writes a lease in; says whether the keeper must be woken for it.
    pub(super) fn enter(&mut self, cell: Arc<Cell<S>>, renew_at: Option<Instant>) -> (u64, bool) {
        self.last_number += 1;
        let due = earliest(renew_at, cell.valid_until());
        self.kept.insert(
            self.last_number,
            Kept {
                cell,
                renew_at,
                due,
            },
        );
        self.agenda.insert((due, self.last_number));
        (self.last_number, due < self.asleep_until)
    }

    /// Strikes a lease out.
    pub(super) fn strike(&mut self, number: u64) {
        if let Some(kept) = self.kept.remove(&number) {
            self.agenda.remove(&(kept.due, number));
        }
    }

    pub(super) fn len(&self) -> usize {
        self.kept.len()
    }

    pub(super) fn close(&mut self) {
        self.closed = true;
    }

    /// Makes every lease that is renewed at all, and is not just now, due.
    pub(super) fn renew_all(&mut self, now: Instant) {
        let later = |kept: &Kept<S>| kept.renew_at.is_some_and(|at| now < at);
        let numbers = self.kept.iter().filter(|(_, kept)| later(kept));
        for number in numbers.map(|(number, _)| *number).collect::<Vec<_>>() {
            self.schedule(number, now);
        }
    }

    /// Takes out what is due, and what will be so soon that it can ride along.
    pub(super) fn due(&mut self, now: Instant) -> Due<S> {
        let mut due = Due {
            expired: Vec::new(),
            over: Vec::new(),
            renew: Vec::new(),
            next: None,
            ended: false,
        };
        for (_, number) in self
            .agenda
            .range(..=(now, u64::MAX))
            .copied()
            .collect::<Vec<_>>()
        {
            let Some(cell) = self.kept.get(&number).map(|kept| kept.cell.clone()) else {
                continue;
            };
            if cell.valid_until() <= now && cell.lose() {
                self.strike(number);
                due.expired.push(cell);
            } else if cell.is_leaving() && cell.over_at() <= now {
                self.strike(number);
                due.over.push(cell);
            } else {
                self.take_for_renewal(number, &mut due.renew);
            }
        }
        if !due.renew.is_empty() {
            self.take_riders(now, &mut due.renew);
        }
        due.next = self.agenda.first().map(|(when, _)| *when);
        due.ended = self.closed && self.kept.is_empty();
        self.asleep_until = due.next.unwrap_or(Instant::from_nanos(u64::MAX));
        due
    }

    /// An answer came. `Some` loss if the lease is lost by it. What is being given back cannot be.
    pub(super) fn answered(
        &mut self,
        number: u64,
        answer: Renewal,
        good_until: Instant,
        now: Instant,
    ) -> Option<Loss> {
        let kept = self.kept.get(&number)?;
        let (old_end, time) = (kept.cell.valid_until(), kept.cell.time);
        // Too late is too late, whatever the server says: somebody else may have come and gone.
        let loss = match answer {
            _ if old_end <= now => Some(Loss::Expired),
            Renewal::Gone => Some(Loss::Taken),
            Renewal::Renewed | Renewal::Unknown => None,
        };
        if kept.cell.is_leaving() {
            return None;
        }
        if loss.is_some() {
            return self.lose(number, loss);
        }
        match answer {
            // An answer that comes after a later one's has nothing to add.
            Renewal::Renewed if good_until <= old_end => {}
            Renewal::Renewed => {
                kept.cell.extend(good_until);
                // Somebody may have seen it end in this very moment: then it has.
                if old_end.has_passed() {
                    return self.lose(number, Some(Loss::Expired));
                }
                self.schedule(number, good_until - time + time / 3);
            }
            Renewal::Unknown | Renewal::Gone => self.schedule(number, now + time / RETRY),
        }
        None
    }

    /// Strikes out what is lost, unless it is being given back since.
    fn lose(&mut self, number: u64, loss: Option<Loss>) -> Option<Loss> {
        self.kept.get(&number).filter(|kept| kept.cell.lose())?;
        self.strike(number);
        loss
    }

    fn take_riders(&mut self, now: Instant, renew: &mut Vec<(u64, Arc<Cell<S>>)>) {
        let soon = |kept: &Kept<S>| {
            kept.renew_at
                .is_some_and(|at| at <= now + kept.cell.time / RETRY)
        };
        let horizon = (now + Duration::from_secs(10), 0);
        let riders: Vec<u64> = self
            .agenda
            .range(..horizon)
            .map(|(_, number)| *number)
            .filter(|number| self.kept.get(number).is_some_and(soon))
            .collect();
        for number in riders {
            self.take_for_renewal(number, renew);
        }
    }

    fn take_for_renewal(&mut self, number: u64, renew: &mut Vec<(u64, Arc<Cell<S>>)>) {
        let Some(kept) = self.kept.get_mut(&number) else {
            return;
        };
        let leaving = kept.cell.is_leaving();
        let due = match leaving {
            true => kept.cell.over_at(),
            false => kept.cell.valid_until(),
        };
        self.agenda.remove(&(kept.due, number));
        self.agenda.insert((due, number));
        kept.due = due;
        if kept.renew_at.take().is_some() && !leaving {
            renew.push((number, kept.cell.clone()));
        }
    }

    fn schedule(&mut self, number: u64, renew_at: Instant) {
        let Some(kept) = self.kept.get_mut(&number) else {
            return;
        };
        let due = earliest(Some(renew_at), kept.cell.valid_until());
        self.agenda.remove(&(kept.due, number));
        self.agenda.insert((due, number));
        kept.due = due;
        kept.renew_at = Some(renew_at);
    }
}

impl<S: LeaseServer> Default for Book<S> {
    fn default() -> Self {
        Self {
            kept: HashMap::default(),
            agenda: BTreeSet::new(),
            last_number: 0,
            asleep_until: Instant::from_nanos(u64::MAX),
            closed: false,
        }
    }
}

fn earliest(renew_at: Option<Instant>, end: Instant) -> Instant {
    renew_at.map_or(end, |renew_at| renew_at.min(end))
}
