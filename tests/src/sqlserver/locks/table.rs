//! All locks of a server.

use super::{
    Key, Mode, Owner,
    entry::{Entry, Waiter},
};
use std::collections::BTreeMap;
use tokio::sync::oneshot;

/// How a wait ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    Granted,
    DeadlockVictim,
}

/// A place in a line.
#[derive(Clone, Debug)]
pub(crate) struct Ticket {
    key: Key,
    number: u64,
}

/// What became of a request.
#[derive(Debug)]
pub(crate) enum Asked {
    Granted,
    /// Somebody else has it, and the request was not to wait.
    Refused,
    DeadlockVictim,
    Waiting(Ticket, oneshot::Receiver<Answer>),
}

/// A line of `sys.dm_tran_locks`.
#[derive(Debug)]
pub(crate) struct LockRow {
    pub(crate) key: Key,
    pub(crate) owner: Owner,
    pub(crate) mode: Mode,
    pub(crate) status: &'static str,
    pub(crate) count: u64,
}

#[derive(Debug)]
struct Asleep {
    priority: i64,
    key: Key,
    session: i16,
    wake: oneshot::Sender<Answer>,
}

/// The table.
#[derive(Debug, Default)]
pub(crate) struct Locks {
    entries: BTreeMap<Key, Entry>,
    asleep: BTreeMap<u64, Asleep>,
    last_number: u64,
}

impl Locks {
    pub(super) fn entries(&self) -> impl Iterator<Item = (&Key, &Entry)> {
        self.entries.iter()
    }

    /// Asks for a lock; to wait for it if need be, unless `wait` is false.
    pub(crate) fn ask(
        &mut self,
        key: Key,
        owner: Owner,
        mode: Mode,
        wait: bool,
        priority: i64,
    ) -> Asked {
        let entry = self.entries.entry(key.clone()).or_default();
        let mode = entry.combined(owner, mode);
        if entry.has_room(owner, mode, &entry.waiters) {
            entry.grant(owner, mode);
            return Asked::Granted;
        }
        if !wait {
            return Asked::Refused;
        }
        self.last_number += 1;
        let number = self.last_number;
        let conversion = entry.held_by(owner).is_some();
        entry.enqueue(Waiter {
            number,
            owner,
            mode,
            conversion,
        });
        let (wake, woken) = oneshot::channel();
        let session = owner.session;
        self.asleep.insert(
            number,
            Asleep {
                priority,
                key: key.clone(),
                session,
                wake,
            },
        );
        let ticket = Ticket { key, number };
        match self.end_circle(&ticket, session) {
            true => Asked::DeadlockVictim,
            false => Asked::Waiting(ticket, woken),
        }
    }

    /// Ends a circle of waiting that the newest waiter closed; whether by that waiter's giving up.
    fn end_circle(&mut self, newest: &Ticket, session: i16) -> bool {
        let circle = self.circle(session);
        let members = self
            .asleep
            .iter()
            .filter(|(_, it)| circle.contains(&it.session));
        // Of equals, the one that closed the circle.
        let victim = members.min_by_key(|(number, it)| (it.priority, **number != newest.number));
        let Some((&number, victim)) = victim else {
            return false;
        };
        let ticket = Ticket {
            key: victim.key.clone(),
            number,
        };
        let wake = self.asleep.remove(&number).map(|it| it.wake);
        self.leave(&ticket);
        if number == newest.number {
            return true;
        }
        let _ = wake.map(|wake| wake.send(Answer::DeadlockVictim));
        false
    }

    /// Leaves a line. A grant that came first stays.
    pub(crate) fn leave(&mut self, ticket: &Ticket) {
        self.asleep.remove(&ticket.number);
        if let Some(entry) = self.entries.get_mut(&ticket.key) {
            entry
                .waiters
                .retain(|waiter| waiter.number != ticket.number);
        }
        self.advance(&ticket.key);
    }

    /// Gives back one grant; whether there was one.
    pub(crate) fn release(&mut self, key: &Key, owner: Owner) -> bool {
        let released = self
            .entries
            .get_mut(key)
            .is_some_and(|entry| entry.release(owner));
        self.advance(key);
        released
    }

    /// Gives back all of what such owners hold, and takes them out of every line.
    pub(crate) fn release_all(&mut self, is_owner: impl Fn(Owner) -> bool) {
        let keys: Vec<Key> = self.entries.keys().cloned().collect();
        for key in keys {
            if let Some(entry) = self.entries.get_mut(&key) {
                entry.holders.retain(|holder| !is_owner(holder.owner));
                entry.waiters.retain(|waiter| !is_owner(waiter.owner));
            }
            self.advance(&key);
        }
    }

    fn advance(&mut self, key: &Key) {
        let Some(entry) = self.entries.get_mut(key) else {
            return;
        };
        for number in entry.advance() {
            if let Some(asleep) = self.asleep.remove(&number) {
                let _ = asleep.wake.send(Answer::Granted);
            }
        }
        if self.entries.get(key).is_some_and(Entry::is_free) {
            self.entries.remove(key);
        }
    }

    /// In which mode an owner holds a lock.
    pub(crate) fn mode(&self, key: &Key, owner: Owner) -> Option<Mode> {
        Some(self.entries.get(key)?.held_by(owner)?.mode)
    }

    /// Whether a request would be granted at once.
    pub(crate) fn would_grant(&self, key: &Key, owner: Owner, mode: Mode) -> bool {
        self.entries
            .get(key)
            .is_none_or(|entry| entry.has_room(owner, entry.combined(owner, mode), &entry.waiters))
    }

    /// Who blocks a session that waits.
    pub(crate) fn blocker(&self, session: i16) -> Option<i16> {
        let mut waiters = self
            .entries
            .values()
            .flat_map(|entry| entry.waiters.iter().map(move |waiter| (entry, waiter)));
        let (entry, waiter) = waiters.find(|(_, waiter)| waiter.owner.session == session)?;
        entry.blockers(waiter).first().copied()
    }

    pub(crate) fn rows(&self) -> Vec<LockRow> {
        let mut rows = Vec::new();
        for (key, entry) in &self.entries {
            let row = |owner, mode, status, count| LockRow {
                key: key.clone(),
                owner,
                mode,
                status,
                count,
            };
            let converts = |owner| {
                entry
                    .waiters
                    .iter()
                    .any(|it| it.conversion && it.owner == owner)
            };
            for holder in entry.holders.iter().filter(|it| !converts(it.owner)) {
                rows.push(row(holder.owner, holder.mode, "GRANT", holder.count));
            }
            for waiter in &entry.waiters {
                let status = if waiter.conversion { "CONVERT" } else { "WAIT" };
                rows.push(row(waiter.owner, waiter.mode, status, 0));
            }
        }
        rows
    }
}
