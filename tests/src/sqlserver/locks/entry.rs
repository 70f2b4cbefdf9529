//! One lock: who holds it, and the line of those who wait.

use super::{Mode, Owner};

#[derive(Debug)]
pub(crate) struct Holder {
    pub(crate) owner: Owner,
    pub(crate) mode: Mode,
    /// How often it was granted, and is to be given back.
    pub(crate) count: u64,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Waiter {
    pub(crate) number: u64,
    pub(crate) owner: Owner,
    /// What it would hold: with what it holds already, for a conversion.
    pub(crate) mode: Mode,
    pub(crate) conversion: bool,
}

#[derive(Debug, Default)]
pub(crate) struct Entry {
    pub(crate) holders: Vec<Holder>,
    /// Conversions first, each kind by age.
    pub(crate) waiters: Vec<Waiter>,
}

impl Entry {
    pub(crate) const fn is_free(&self) -> bool {
        self.holders.is_empty() && self.waiters.is_empty()
    }

    pub(crate) fn held_by(&self, owner: Owner) -> Option<&Holder> {
        self.holders.iter().find(|holder| holder.owner == owner)
    }

    /// What `owner` would hold if it were granted `mode` too.
    pub(crate) fn combined(&self, owner: Owner, mode: Mode) -> Mode {
        self.held_by(owner)
            .map_or(mode, |held| held.mode.with(mode))
    }

    /// Whether the others' modes leave room, and nobody who came earlier is passed by.
    pub(crate) fn has_room(&self, owner: Owner, mode: Mode, ahead: &[Waiter]) -> bool {
        let conversion = self.held_by(owner).is_some();
        let others = |holder: &&Holder| holder.owner != owner;
        let mut holders = self.holders.iter().filter(others);
        let room = holders.all(|holder| holder.mode.goes_with(mode));
        room && (conversion || ahead.iter().all(|waiter| waiter.mode.goes_with(mode)))
    }

    pub(crate) fn grant(&mut self, owner: Owner, mode: Mode) {
        match self.holders.iter_mut().find(|holder| holder.owner == owner) {
            Some(holder) => {
                holder.mode = mode;
                holder.count += 1;
            }
            None => self.holders.push(Holder {
                owner,
                mode,
                count: 1,
            }),
        }
    }

    pub(crate) fn enqueue(&mut self, waiter: Waiter) {
        let place = match waiter.conversion {
            true => self.waiters.iter().position(|other| !other.conversion),
            false => None,
        };
        let place = place.unwrap_or(self.waiters.len());
        self.waiters.insert(place, waiter);
    }

    /// Gives back one grant; whether there was one.
    pub(crate) fn release(&mut self, owner: Owner) -> bool {
        let mut holders = self.holders.iter();
        let Some(place) = holders.position(|holder| holder.owner == owner) else {
            return false;
        };
        self.holders[place].count -= 1;
        if self.holders[place].count == 0 {
            self.holders.remove(place);
        }
        true
    }

    /// Grants what can be granted now, in line; the numbers of those who got it.
    pub(crate) fn advance(&mut self) -> Vec<u64> {
        let mut granted = Vec::new();
        let mut place = 0;
        while place < self.waiters.len() {
            let waiter = self.waiters[place];
            if self.has_room(waiter.owner, waiter.mode, &self.waiters[..place]) {
                self.waiters.remove(place);
                self.grant(waiter.owner, waiter.mode);
                granted.push(waiter.number);
            } else {
                place += 1;
            }
        }
        granted
    }

    /// The sessions that `waiter` waits for.
    pub(crate) fn blockers(&self, waiter: &Waiter) -> Vec<i16> {
        let holders = self
            .holders
            .iter()
            .filter(|holder| holder.owner != waiter.owner && !holder.mode.goes_with(waiter.mode));
        let ahead = self
            .waiters
            .iter()
            .take_while(|it| it.number != waiter.number);
        let ahead = ahead.filter(|it| !waiter.conversion && !it.mode.goes_with(waiter.mode));
        let holders = holders.map(|holder| holder.owner.session);
        holders.chain(ahead.map(|it| it.owner.session)).collect()
    }
}
