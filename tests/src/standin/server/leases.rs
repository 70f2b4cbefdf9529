//! Leases: granted to an owner for a time, whatever becomes of its connection.

use super::{
    lock::{By, Grant, UPGRADE_LIVES},
    state::State,
};
use crate::standin::protocol::Reply;
use lockwork::{LockId, Mode, OwnerId};
use std::time::{Duration, SystemTime};

/// A try, as it arrived.
pub(super) struct Try<'a> {
    pub(super) id: &'a LockId,
    pub(super) owner: OwnerId,
    pub(super) mode: Mode,
    pub(super) time: Duration,
    pub(super) wait: bool,
    pub(super) client: &'a str,
}

impl State {
    /// First come, first served: comes in only if nobody waits before it.
    pub(super) fn try_lease(&mut self, ask: Try<'_>) -> Reply {
        let Try {
            id,
            owner,
            mode,
            time,
            wait,
            client,
        } = ask;
        if self.tombstones.stand_for(id, owner) {
            return Reply::Refused;
        }
        self.visit(id, |lock, tokens, now| {
            let until = now + time;
            let by = By::Lease { owner, time, until };
            if let Some(grant) = lock.lease_of(owner) {
                grant.by = by;
                return Reply::Granted(grant.token);
            }
            if lock.is_behind(owner) || !lock.admits(mode, lock.present(|_| true)) {
                if wait {
                    lock.stand_in_line(owner, mode, now);
                }
                return Reply::Busy(lock.frees_in(now));
            }
            lock.leave(|waiter| waiter.owner == owner);
            let token = mode.has_token().then(|| tokens.next()).flatten();
            lock.grants.push(Grant {
                by,
                mode,
                token,
                upgraded: false,
                since: SystemTime::now(),
                client: client.to_owned(),
            });
            Reply::Granted(token)
        })
    }

    /// Whether the owner still has it, and has it for its whole time again.
    pub(super) fn renew(&mut self, id: &LockId, owner: OwnerId) -> bool {
        self.visit(id, |lock, _, now| {
            let Some(grant) = lock.lease_of(owner) else {
                return false;
            };
            if let By::Lease { time, until, .. } = &mut grant.by {
                *until = now + *time;
            }
            true
        })
    }

    pub(super) fn release(&mut self, id: &LockId, owner: OwnerId, tombstone: Duration) -> Reply {
        self.visit(id, |lock, _, _| {
            lock.remove(|grant| grant.by.is(owner));
            lock.leave(|waiter| waiter.owner == owner);
        });
        if !tombstone.is_zero() {
            let until = lockwork::Instant::now() + tombstone;
            self.tombstones.put(id.clone(), owner, until);
        }
        Reply::Ok
    }

    pub(super) fn leave(&mut self, id: &LockId, owner: OwnerId) -> Reply {
        self.visit(id, |lock, _, _| {
            lock.leave(|waiter| waiter.owner == owner);
        });
        Reply::Ok
    }

    /// Goes before everybody who waits: they wait for this one too.
    pub(super) fn upgrade(&mut self, id: &LockId, owner: OwnerId) -> Reply {
        self.visit(id, |lock, tokens, now| {
            let others = lock.present(|grant| !grant.by.is(owner));
            let Some(grant) = lock.lease_of(owner) else {
                return Reply::Gone;
            };
            if grant.upgraded {
                return Reply::Granted(grant.token);
            }
            if grant.mode != Mode::Upgradeable {
                return Reply::Error("only an upgradeable reader can be upgraded".to_owned());
            }
            if !others.admits(Mode::Write) {
                lock.upgrading = Some((owner, now + UPGRADE_LIVES));
                return Reply::Busy(None);
            }
            let token = tokens.next();
            (grant.mode, grant.upgraded, grant.token) = (Mode::Write, true, token);
            lock.upgrading = None;
            Reply::Granted(token)
        })
    }

    /// Takes an upgrade back, and the wish for one.
    pub(super) fn downgrade(&mut self, id: &LockId, owner: OwnerId) -> Reply {
        self.visit(id, |lock, _, _| {
            lock.downgrade(|grant| grant.by.is(owner));
            if lock.upgrading.is_some_and(|(who, _)| who == owner) {
                lock.end_upgrade();
            }
        });
        Reply::Ok
    }

    /// Forgets every lease and everybody who waits for one.
    pub(super) fn forget_leases(&mut self) {
        let ids: Vec<LockId> = self.locks.keys().cloned().collect();
        for id in ids {
            self.visit(&id, |lock, _, _| {
                lock.remove(|grant| matches!(grant.by, By::Lease { .. }));
                lock.waiters.clear();
            });
        }
    }
}
