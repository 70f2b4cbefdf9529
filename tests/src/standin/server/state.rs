//! All the locks, under one mutex: what each request does to them, and what time does.

use super::{
    lock::{By, Grant, Lock, listed_owner},
    tombstones::Tombstones,
};
use lockwork::{Holder, Holders, Instant, LockId, Token, Waiting};
use std::collections::{BTreeSet, HashMap};

#[derive(Debug, Default)]
pub(super) struct State {
    pub(super) locks: HashMap<LockId, Lock>,
    pub(super) tombstones: Tombstones,
    tokens: Tokens,
    /// When to look at which lock. May name moments at which nothing happens after all.
    agenda: BTreeSet<(Instant, LockId)>,
    /// Until when the sweeper sleeps; `None` when it waits to be woken.
    asleep_until: Option<Instant>,
    /// What came of the last requests, for the server to pass on.
    pub(super) news: News,
}

#[derive(Debug, Default)]
pub(super) struct News {
    /// Locks that may be free.
    pub(super) freed: Vec<LockId>,
    /// The sweeper must look earlier than it thinks.
    pub(super) early: bool,
    /// Connections to end.
    pub(super) ended: Vec<u64>,
}

/// One counter for all names. It rises for each, whatever ends.
#[derive(Debug, Default)]
pub(super) struct Tokens(u64);

impl Tokens {
    pub(super) fn next(&mut self) -> Option<Token> {
        self.0 += 1;
        Token::from_server(self.0)
    }
}

impl State {
    /// Does something with one lock, after ending what has run out there.
    pub(super) fn visit<T>(
        &mut self,
        id: &LockId,
        work: impl FnOnce(&mut Lock, &mut Tokens, Instant) -> T,
    ) -> T {
        let now = Instant::now();
        let lock = self.locks.entry(id.clone()).or_default();
        lock.settle(now);
        let result = work(lock, &mut self.tokens, now);
        if std::mem::take(&mut lock.moved) {
            self.news.freed.push(id.clone());
        }
        if let Some(next) = lock.next_end() {
            self.news.early |= self.asleep_until.is_none_or(|until| next < until);
            self.agenda.insert((next, id.clone()));
        }
        if lock.is_over() {
            self.locks.remove(id);
        }
        result
    }

    /// Ends everything that has run out; says when to do so again.
    pub(super) fn sweep(&mut self) -> Option<Instant> {
        while let Some((when, id)) = self.agenda.pop_first() {
            if !when.has_passed() {
                self.agenda.insert((when, id));
                break;
            }
            self.visit(&id, |_, _, _| ());
        }
        self.asleep_until = self.agenda.first().map(|(when, _)| *when);
        self.asleep_until
    }

    pub(super) fn holders(&mut self, id: &LockId) -> Holders {
        let holder = |grant: &Grant| {
            let mut holder = Holder::new(listed_owner(grant.by), grant.mode);
            holder.token = grant.token;
            holder.since = Some(grant.since);
            holder.client = Some(grant.client.clone());
            holder
        };
        self.visit(id, |lock, _, _| {
            let waiting = lock.waiters.iter();
            let waiting = waiting.map(|waiter| Waiting::new(waiter.owner, waiter.mode));
            Holders::new(lock.grants.iter().map(holder).collect(), waiting.collect())
        })
    }

    /// Ends all grants of `id`. The only way to tell a session is to end it.
    pub(super) fn break_lock(&mut self, id: &LockId) -> usize {
        let grants = self.visit(id, |lock, _, _| {
            let grants: Vec<_> = lock.grants.iter().map(|grant| grant.by).collect();
            lock.remove(|_| true);
            grants
        });
        self.news
            .ended
            .extend(grants.iter().filter_map(|by| match by {
                By::Session(number) => Some(*number),
                By::Lease { .. } => None,
            }));
        grants.len()
    }

    /// How many locks somebody has.
    pub(super) fn held(&self) -> usize {
        let held = |lock: &&Lock| !lock.grants.is_empty();
        self.locks.values().filter(held).count()
    }

    /// How many wait, for all locks together.
    pub(super) fn waiting(&self) -> usize {
        self.locks.values().map(|lock| lock.waiters.len()).sum()
    }
}
