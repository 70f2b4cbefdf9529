//! Grants that live on a connection. As in a database, a connection is never in its own way: it is
//! granted again what it has, even shared beside its own exclusive. Only permits are counted
//! whoever has them, since a semaphore that does not count is none.

use super::{
    lock::{By, Grant, Lock},
    state::{State, Tokens},
};
use crate::standin::protocol::{Reply, Step, Verb};
use lockwork::{LockId, Mode, Token};
use std::time::SystemTime;

impl State {
    /// First everything is given back, then each take is tried; none waits.
    pub(super) fn batch(&mut self, connection: u64, client: &str, steps: &[Step]) -> Reply {
        let by = By::Session(connection);
        for step in steps {
            match step.verb {
                Verb::Give => self.visit(&step.id, |lock, _, _| give(lock, by, step.mode)),
                Verb::Downgrade => self.visit(&step.id, |lock, _, _| {
                    lock.downgrade(|grant| grant.by == by);
                }),
                Verb::Take | Verb::Upgrade => {}
            }
        }
        let mut taken = Vec::new();
        for step in steps {
            let granted = match step.verb {
                Verb::Take => self.visit(&step.id, |lock, tokens, _| {
                    take(lock, tokens, by, step.mode, client)
                }),
                Verb::Upgrade => self.visit(&step.id, |lock, tokens, _| upgrade(lock, tokens, by)),
                Verb::Give | Verb::Downgrade => None,
            };
            if let Some(token) = granted {
                taken.push((step.id.clone(), token));
            }
        }
        Reply::Taken(taken)
    }

    /// A connection is gone, and with it what lived on it.
    pub(super) fn end_session(&mut self, connection: u64) {
        let by = By::Session(connection);
        let on_it = |lock: &Lock| lock.grants.iter().any(|grant| grant.by == by);
        let ids: Vec<LockId> = self
            .locks
            .iter()
            .filter(|(_, lock)| on_it(lock))
            .map(|(id, _)| id.clone())
            .collect();
        for id in ids {
            self.visit(&id, |lock, _, _| lock.remove(|grant| grant.by == by));
        }
    }
}

fn give(lock: &mut Lock, by: By, mode: Mode) {
    let held = |grant: &Grant| grant.by == by && grant.mode == mode;
    if let Some(at) = lock.grants.iter().position(held) {
        lock.grants.swap_remove(at);
        lock.moved = true;
    }
}

/// `Some` with the token, if the mode has one, when granted.
fn take(
    lock: &mut Lock,
    tokens: &mut Tokens,
    by: By,
    mode: Mode,
    client: &str,
) -> Option<Option<Token>> {
    let counts = |grant: &Grant| grant.by != by || matches!(mode, Mode::Permit { .. });
    if !lock.admits(mode, lock.present(counts)) {
        return None;
    }
    let token = mode.has_token().then(|| tokens.next()).flatten();
    lock.grants.push(Grant {
        by,
        mode,
        token,
        upgraded: false,
        since: SystemTime::now(),
        client: client.to_owned(),
    });
    Some(token)
}

fn upgrade(lock: &mut Lock, tokens: &mut Tokens, by: By) -> Option<Option<Token>> {
    if !lock.present(|grant| grant.by != by).admits(Mode::Write) {
        return None;
    }
    let reader = |grant: &&mut Grant| grant.by == by && grant.mode == Mode::Upgradeable;
    let grant = lock.grants.iter_mut().find(reader)?;
    let token = tokens.next();
    (grant.mode, grant.upgraded, grant.token) = (Mode::Write, true, token);
    Some(token)
}
