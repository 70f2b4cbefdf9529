//! Who was refused and waits: tried for again together, and forgotten when they leave.

use super::{
    Session,
    actor::Actor,
    riders::{Rider, Taking, Ticket},
};
use crate::lock::Instant;
use std::{collections::HashMap, hash::Hash};

/// Those who wait on one session.
#[derive(Debug)]
pub(super) struct Waiters<K: Hash + Eq> {
    by_key: HashMap<K, Vec<Taking<K>>>,
    /// When to try for all of them again, whatever is heard.
    again_at: Option<Instant>,
}

impl<K: Hash + Eq> Default for Waiters<K> {
    fn default() -> Self {
        Self {
            by_key: HashMap::new(),
            again_at: None,
        }
    }
}

impl<K: Hash + Eq + Clone> Waiters<K> {
    pub(super) fn is_empty(&self) -> bool {
        self.by_key.is_empty()
    }

    /// When to try for all of them again; `None` if nobody waits.
    pub(super) const fn again_at(&self) -> Option<Instant> {
        self.again_at
    }

    fn add(&mut self, taking: Taking<K>) {
        let key = taking.take.key.clone();
        self.by_key.entry(key).or_default().push(taking);
    }

    /// Those who wait for `key`, and not any more.
    fn of(&mut self, key: &K) -> Vec<Taking<K>> {
        let waiting = self.by_key.remove(key).unwrap_or_default();
        self.forget_the_time();
        waiting
    }

    fn all(&mut self) -> Vec<Taking<K>> {
        self.again_at = None;
        self.by_key
            .drain()
            .flat_map(|(_, waiting)| waiting)
            .collect()
    }

    /// Whether somebody who waits for `key` is so.
    pub(super) fn any(&self, key: &K, is_so: impl Fn(&Taking<K>) -> bool) -> bool {
        self.by_key
            .get(key)
            .is_some_and(|waiting| waiting.iter().any(is_so))
    }

    fn remove(&mut self, key: &K, ticket: &Ticket) -> Option<Taking<K>> {
        let waiting = self.by_key.get_mut(key)?;
        let at = waiting.iter().position(|taking| taking.ticket.is(ticket))?;
        let found = waiting.swap_remove(at);
        if waiting.is_empty() {
            self.by_key.remove(key);
        }
        self.forget_the_time();
        Some(found)
    }

    /// Whoever is the first to wait again does so for the whole time.
    fn forget_the_time(&mut self) {
        self.again_at = self.again_at.filter(|_| !self.by_key.is_empty());
    }
}

impl<S: Session> Actor<S> {
    /// Keeps one that was refused.
    pub(super) fn keep(&mut self, taking: Taking<S::Key>) {
        self.waiters.add(taking);
        let again_at = Instant::now() + self.options.pace.longest();
        self.waiters.again_at.get_or_insert(again_at);
    }

    /// Tries again for `key` with the next round trip.
    pub(super) fn again(&mut self, key: &S::Key) {
        let waiting = self.waiters.of(key);
        self.pending.extend(waiting.into_iter().map(Rider::Take));
    }

    /// Tries again for everybody with the next round trips, if it is time.
    pub(super) fn again_for_all(&mut self) {
        if self.waiters.again_at().is_some_and(Instant::has_passed) {
            let waiting = self.waiters.all();
            self.pending.extend(waiting.into_iter().map(Rider::Take));
        }
    }

    /// Somebody does not wait any more.
    pub(super) fn leave(&mut self, key: &S::Key, ticket: &Ticket) {
        let left = self.waiters.remove(key, ticket).or_else(|| {
            let is_it =
                |rider: &Rider<_>| matches!(rider, Rider::Take(taking) if taking.ticket.is(ticket));
            match self.pending.remove(self.pending.iter().position(is_it)?) {
                Some(Rider::Take(taking)) => Some(taking),
                _ => None,
            }
        });
        let left = left.or_else(|| {
            let is_it = |(taking, _): &(Taking<_>, _)| taking.ticket.is(ticket);
            let at = self.to_wait.iter().position(is_it)?;
            self.to_wait.remove(at).map(|(taking, _)| taking)
        });
        // Who is not found has its answer.
        if let Some(taking) = left {
            self.refuse(taking);
        }
    }
}
