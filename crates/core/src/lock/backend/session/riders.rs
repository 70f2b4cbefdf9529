//! Who rides in a round trip, and what becomes of each.

use super::{
    Give, Session, Take, Taken,
    actor::{Actor, Ask, Reply},
    claims::Claim,
    link::Granted,
};
use crate::lock::{Error, ErrorKind, Instant, Loss, Mode, Result, Token};
use std::{
    collections::{HashMap, HashSet, VecDeque},
    hash::Hash,
};
use tokio::sync::oneshot;

/// What a batch was made of, to be answered.
pub(super) struct Riders<K: Hash + Eq> {
    pub(super) takes: Vec<Taking<K>>,
    pub(super) gives: Vec<Giving<K>>,
}

pub(super) type Taking<K> = (Take<K>, Option<Claim<K>>, Reply<K>);
pub(super) type Giving<K> = (Give<K>, Option<oneshot::Sender<Result<()>>>);

impl<S: Session> Actor<S> {
    /// Chooses who rides: in order, no key twice, so that no key is given and taken in one batch.
    pub(super) fn board(&mut self) -> Riders<S::Key> {
        let mut riders = Riders {
            takes: Vec::new(),
            gives: Vec::new(),
        };
        let mut keys = HashSet::new();
        let mut later = VecDeque::new();
        while let Some(ask) = self.pending.pop_front() {
            if keys.len() >= self.options.batch || keys.contains(ask.key()) {
                later.push_back(ask);
                continue;
            }
            let key = ask.key().clone();
            if self.admit(ask, &mut riders) {
                keys.insert(key);
            }
        }
        self.pending = later;
        riders
    }

    /// Puts one ask into the batch; `false` if it is answered without.
    fn admit(&mut self, ask: Ask<S::Key>, riders: &mut Riders<S::Key>) -> bool {
        match ask {
            Ask::Take { take, claim, reply } => {
                if take.upgrade && !self.upgrade_claim(&take.key) {
                    let _ = reply.send(Ok(None));
                    return false;
                }
                riders.takes.push((take, claim, reply));
            }
            Ask::Give { give, reply } => {
                if !self.holds(&give) {
                    if let Some(reply) = reply {
                        let _ = reply.send(Ok(()));
                    }
                    return false;
                }
                riders.gives.push((give, reply));
            }
        }
        true
    }

    fn settle_take(
        &mut self,
        take: Take<S::Key>,
        claim: Option<Claim<S::Key>>,
        reply: Reply<S::Key>,
        granted: Option<Option<Token>>,
    ) {
        let Some(token) = granted else {
            // Before the answer: whoever reads it may ask again at once.
            drop(claim);
            self.refused(&take);
            let _ = reply.send(Ok(None));
            return;
        };
        if let Some(claim) = claim {
            self.held.entry(take.key.clone()).or_default().push(claim);
        }
        let give = Give {
            key: take.key,
            mode: take.mode,
            downgrade: take.upgrade,
        };
        // What travels gives itself back if nobody reads it.
        let granted = Granted::new(self.to_self.clone(), give, token);
        let _ = reply.send(Ok(Some(granted)));
    }

    pub(super) fn fail_takes(&mut self, takes: Vec<Taking<S::Key>>, error: &Error) {
        for (take, claim, reply) in takes {
            drop(claim);
            self.refused(&take);
            let _ = reply.send(Err(error.clone()));
        }
    }

    fn refused(&mut self, take: &Take<S::Key>) {
        if take.upgrade {
            if let Some(claim) = self.claim(&take.key, Mode::Write) {
                claim.downgrade();
            }
        } else {
            self.cell.unload();
        }
    }

    pub(super) fn settle_gives(&mut self, gives: Vec<Giving<S::Key>>) {
        for (give, reply) in gives {
            if give.downgrade {
                if let Some(claim) = self.claim(&give.key, Mode::Write) {
                    claim.downgrade();
                }
            } else {
                self.forget(&give);
            }
            if let Some(reply) = reply {
                let _ = reply.send(Ok(()));
            }
        }
    }

    fn forget(&mut self, give: &Give<S::Key>) {
        let Some(claims) = self.held.get_mut(&give.key) else {
            return;
        };
        if let Some(at) = claims.iter().position(|claim| claim.mode() == give.mode) {
            claims.swap_remove(at);
            self.cell.unload();
        }
        if claims.is_empty() {
            self.held.remove(&give.key);
        }
        if self.held.is_empty() {
            self.idle_since = Instant::now();
        }
    }

    fn holds(&mut self, give: &Give<S::Key>) -> bool {
        self.claim(&give.key, give.mode).is_some()
    }

    fn upgrade_claim(&mut self, key: &S::Key) -> bool {
        self.claim(key, Mode::Upgradeable)
            .is_some_and(Claim::upgrade)
    }

    fn claim(&mut self, key: &S::Key, mode: Mode) -> Option<&mut Claim<S::Key>> {
        self.held
            .get_mut(key)?
            .iter_mut()
            .find(|claim| claim.mode() == mode)
    }

    /// The answer came: everybody hears of theirs.
    pub(super) fn settle(
        &mut self,
        riders: Riders<S::Key>,
        taken: Vec<Taken<S::Key>>,
    ) -> Result<(), (Loss, Error)> {
        let mut tokens: HashMap<_, _> = taken
            .into_iter()
            .map(|taken| (taken.key, taken.token))
            .collect();
        self.settle_gives(riders.gives);
        for (take, claim, reply) in riders.takes {
            let granted = tokens.remove(&take.key);
            self.settle_take(take, claim, reply, granted);
        }
        if tokens.is_empty() {
            return Ok(());
        }
        let message = "the server granted what nobody asked for";
        Err((
            Loss::Disconnected,
            Error::new(ErrorKind::Unexpected, message),
        ))
    }
}
