//! Who rides in a round trip, and what becomes of each.

use super::{
    Answer, Batch, Give, Session, Take,
    actor::{Actor, Reply},
    claims::Claim,
    link::Granted,
};
use crate::lock::{Error, ErrorKind, Instant, Loss, Mode, Result, Token};
use std::{
    collections::{HashMap, HashSet, VecDeque},
    hash::Hash,
    time::Duration,
};
use tokio::sync::oneshot;

/// What a batch was made of, to be answered.
pub(super) struct Riders<K: Hash + Eq> {
    pub(super) takes: Vec<Taking<K>>,
    pub(super) leaves: Vec<Take<K>>,
    pub(super) gives: Vec<Giving<K>>,
}

/// One who asks for something.
#[derive(Debug)]
pub(super) struct Taking<K: Hash + Eq> {
    pub(super) take: Take<K>,
    /// The place it takes; an upgrade has one already.
    pub(super) claim: Option<Claim<K>>,
    pub(super) reply: Reply<K>,
    /// By which it leaves.
    pub(super) ticket: u64,
    /// Refused before, and kept: the server may know of it.
    pub(super) kept: bool,
}

pub(super) type Giving<K> = (Give<K>, Option<oneshot::Sender<Result<()>>>);

/// One who has not ridden yet.
#[derive(Debug)]
pub(super) enum Rider<K: Hash + Eq> {
    Take(Taking<K>),
    Give(Giving<K>),
}

impl<K: Hash + Eq> Rider<K> {
    const fn key(&self) -> &K {
        match self {
            Self::Take(taking) => &taking.take.key,
            Self::Give((give, _)) => &give.key,
        }
    }
}

impl<K: Hash + Eq + Clone> Riders<K> {
    pub(super) fn batch(&self) -> Batch<K> {
        Batch {
            gives: self.gives.iter().map(|(give, _)| give.clone()).collect(),
            leaves: self.leaves.clone(),
            takes: self
                .takes
                .iter()
                .map(|taking| taking.take.clone())
                .collect(),
        }
    }
}

impl<S: Session> Actor<S> {
    /// Chooses who rides: in order, no key twice, so that no key is given and taken in one batch.
    pub(super) fn board(&mut self) -> Riders<S::Key> {
        let leaves = std::mem::take(&mut self.leaves);
        let mut keys: HashSet<_> = leaves.iter().map(|take| take.key.clone()).collect();
        let mut riders = Riders {
            takes: Vec::new(),
            leaves,
            gives: Vec::new(),
        };
        let mut later = VecDeque::new();
        while let Some(rider) = self.pending.pop_front() {
            if keys.len() >= self.options.batch || keys.contains(rider.key()) {
                later.push_back(rider);
                continue;
            }
            let key = rider.key().clone();
            if self.admit(rider, &mut riders) {
                keys.insert(key);
            }
        }
        self.pending = later;
        riders
    }

    /// Puts one into the batch; `false` if it is answered without.
    fn admit(&mut self, rider: Rider<S::Key>, riders: &mut Riders<S::Key>) -> bool {
        match rider {
            Rider::Take(taking) => {
                if taking.take.upgrade && !self.upgrade_claim(&taking.take.key) {
                    let _ = taking.reply.send(Ok(None));
                    return false;
                }
                riders.takes.push(taking);
            }
            Rider::Give((give, reply)) => {
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

    fn settle_take(&mut self, taking: Taking<S::Key>, granted: Option<Option<Token>>) {
        let Some(token) = granted else {
            // Who has stopped listening does not wait.
            return match taking.take.waits && !taking.reply.is_closed() {
                true => self.keep(taking),
                false => self.refuse(taking),
            };
        };
        let Taking {
            take, claim, reply, ..
        } = taking;
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

    /// Says no for good.
    pub(super) fn refuse(&mut self, taking: Taking<S::Key>) {
        if taking.kept {
            self.leaves.push(taking.take.clone());
        }
        self.answer(taking, Ok(None));
    }

    pub(super) fn fail_takes(&mut self, takes: Vec<Taking<S::Key>>, error: &Error) {
        for taking in takes {
            self.answer(taking, Err(error.clone()));
        }
    }

    fn answer(&mut self, taking: Taking<S::Key>, answer: Result<Option<Granted<S::Key>>>) {
        // Before the answer: whoever reads it may ask again at once.
        drop(taking.claim);
        self.refused(&taking.take);
        let _ = taking.reply.send(answer);
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
            self.again(&give.key);
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

    /// The answer came after `round_trip`: everybody hears of theirs.
    pub(super) fn settle(
        &mut self,
        riders: Riders<S::Key>,
        answer: Answer<S::Key>,
        round_trip: Duration,
    ) -> Result<(), (Loss, Error)> {
        let granted = answer.taken.into_iter();
        let mut tokens: HashMap<_, _> = granted.map(|taken| (taken.key, taken.token)).collect();
        for key in answer.contended {
            self.rests.begin(key, round_trip);
        }
        self.settle_gives(riders.gives);
        for taking in riders.takes {
            let granted = tokens.remove(&taking.take.key);
            self.settle_take(taking, granted);
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
