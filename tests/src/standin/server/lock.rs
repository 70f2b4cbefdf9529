//! One lock: who is in, who waits, who wants to write. Knows the time only as it is told.

use lockwork::{Instant, Mode, OwnerId, Token, backend::Present};
use std::{
    collections::VecDeque,
    time::{Duration, SystemTime},
};

/// A waiter that does not ask again for so long is gone.
pub(super) const WAITER_LIVES: Duration = Duration::from_millis(1500);
/// Readers stay out for so long after the last try to upgrade.
pub(super) const UPGRADE_LIVES: Duration = Duration::from_secs(1);

#[derive(Debug, Default)]
pub(super) struct Lock {
    pub(super) grants: Vec<Grant>,
    pub(super) waiters: VecDeque<Waiter>,
    /// Who wants to write, and until when that keeps new readers out.
    pub(super) upgrading: Option<(OwnerId, Instant)>,
    /// Somebody may come in now who could not before.
    pub(super) moved: bool,
}

#[derive(Debug)]
pub(super) struct Grant {
    pub(super) by: By,
    pub(super) mode: Mode,
    pub(super) token: Option<Token>,
    pub(super) upgraded: bool,
    pub(super) since: SystemTime,
    pub(super) client: String,
}

/// What a grant rests on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum By {
    Lease {
        owner: OwnerId,
        time: Duration,
        until: Instant,
    },
    /// The connection of this number.
    Session(u64),
}

#[derive(Debug)]
pub(super) struct Waiter {
    pub(super) owner: OwnerId,
    pub(super) mode: Mode,
    pub(super) until: Instant,
}

impl By {
    pub(super) fn is(&self, whose: OwnerId) -> bool {
        matches!(self, Self::Lease { owner, .. } if *owner == whose)
    }
}

impl Grant {
    pub(super) const fn ends_at(&self) -> Option<Instant> {
        match self.by {
            By::Lease { until, .. } => Some(until),
            By::Session(_) => None,
        }
    }
}

impl Lock {
    /// Ends what has run out.
    pub(super) fn settle(&mut self, now: Instant) {
        self.remove(|grant| grant.ends_at().is_some_and(|until| until <= now));
        self.leave(|waiter| waiter.until <= now);
        if self.upgrading.is_some_and(|(_, until)| until <= now) {
            self.end_upgrade();
        }
    }

    /// When something runs out next.
    pub(super) fn next_end(&self) -> Option<Instant> {
        let grants = self.grants.iter().filter_map(Grant::ends_at);
        let waiters = self.waiters.iter().map(|waiter| waiter.until);
        let upgrade = self.upgrading.iter().map(|(_, until)| *until);
        grants.chain(waiters).chain(upgrade).min()
    }

    pub(super) fn is_over(&self) -> bool {
        self.grants.is_empty() && self.waiters.is_empty()
    }

    /// Who is in, of those `counted`.
    pub(super) fn present(&self, counted: impl Fn(&Grant) -> bool) -> Present {
        let mut present = Present::default();
        for grant in self.grants.iter().filter(|grant| counted(grant)) {
            present.add(grant.mode);
        }
        present
    }

    /// Whether `mode` may come in beside `present`.
    pub(super) fn admits(&self, mode: Mode, present: Present) -> bool {
        present.admits(mode) && !(mode == Mode::Read && self.upgrading.is_some())
    }

    pub(super) fn lease_of(&mut self, owner: OwnerId) -> Option<&mut Grant> {
        self.grants.iter_mut().find(|grant| grant.by.is(owner))
    }

    /// Ends all grants of which `ended` says so.
    pub(super) fn remove(&mut self, ended: impl Fn(&Grant) -> bool) {
        let before = self.grants.len();
        self.grants.retain(|grant| !ended(grant));
        self.moved |= self.grants.len() < before;
        // An upgrade is over when its reader is gone.
        if let Some((owner, _)) = self.upgrading
            && !self.grants.iter().any(|grant| grant.by.is(owner))
        {
            self.end_upgrade();
        }
    }

    /// Takes waiters out of the line; those behind may be able to go where these could not.
    pub(super) fn leave(&mut self, leaving: impl Fn(&Waiter) -> bool) {
        let before = self.waiters.len();
        self.waiters.retain(|waiter| !leaving(waiter));
        self.moved |= self.waiters.len() < before && !self.waiters.is_empty();
    }

    pub(super) fn end_upgrade(&mut self) {
        self.moved |= self.upgrading.take().is_some();
    }

    /// Puts `owner` at the end of the line, or lets it live on where it stands.
    pub(super) fn stand_in_line(&mut self, owner: OwnerId, mode: Mode, now: Instant) {
        let until = now + WAITER_LIVES;
        match self.waiters.iter_mut().find(|waiter| waiter.owner == owner) {
            Some(waiter) => waiter.until = until,
            None => self.waiters.push_back(Waiter { owner, mode, until }),
        }
    }

    /// Whether somebody waits before `owner`.
    pub(super) fn is_behind(&self, owner: OwnerId) -> bool {
        self.waiters
            .front()
            .is_some_and(|first| first.owner != owner)
    }

    /// When the first lease runs out that may be in the way.
    pub(super) fn frees_in(&self, now: Instant) -> Option<Duration> {
        let first = self.grants.iter().filter_map(Grant::ends_at).min()?;
        Some(first.saturating_duration_since(now))
    }

    /// Makes an upgraded writer the upgradeable reader again.
    pub(super) fn downgrade(&mut self, whose: impl Fn(&Grant) -> bool) {
        let upgraded = |grant: &&mut Grant| grant.upgraded && whose(grant);
        if let Some(grant) = self.grants.iter_mut().find(upgraded) {
            (grant.mode, grant.upgraded, grant.token) = (Mode::Upgradeable, false, None);
            self.moved = true;
        }
    }
}

/// The owner a session's grant is listed under: its connection's number.
pub(super) fn listed_owner(by: By) -> OwnerId {
    match by {
        By::Lease { owner, .. } => owner,
        By::Session(number) => OwnerId::from_bytes(u128::from(number).to_be_bytes()),
    }
}
