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
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
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
    pub(super) ticket: Ticket,
}

/// By which one who asks leaves; and by which it knows whether it was refused and kept, so that
/// the server may know of it.
#[derive(Clone, Debug, Default)]
pub(super) struct Ticket(Arc<AtomicBool>);

impl Ticket {
    pub(super) fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    pub(super) fn keep(&self) {
        self.0.store(true, Ordering::Release);
    }

    pub(super) fn is_kept(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }
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
        let mut keys = HashSet::new();
        let mut riders = Riders {
            takes: Vec::new(),
            leaves: Vec::new(),
            gives: Vec::new(),
        };
        for leave in std::mem::take(&mut self.leaves) {
            if keys.len() < self.options.batch && keys.insert(leave.key.clone()) {
                riders.leaves.push(leave);
            } else {
                self.leaves.push(leave);
            }
        }
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

    pub(super) fn settle_take(&mut self, taking: Taking<S::Key>, granted: Option<Option<Token>>) {
        let Some(token) = granted else {
            if !taking.take.waits {
                return self.refuse(taking);
            }
            taking.ticket.keep();
            // Who has stopped listening does not wait.
            return match taking.reply.is_closed() {
                false => self.keep(taking),
                true => self.refuse(taking),
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
        if taking.ticket.is_kept() {
            self.tell_of_leaving(taking.take.clone());
        }
        self.answer(taking, Ok(None));
    }

    /// Tells the server with the next round trip, unless another waits for the same.
    fn tell_of_leaving(&mut self, take: Take<S::Key>) {
        let same = |other: &Taking<_>| {
            other.ticket.is_kept() && other.take.key == take.key && other.take.mode == take.mode
        };
        let pending = |rider: &Rider<_>| matches!(rider, Rider::Take(taking) if same(taking));
        if !self.waiters.any(&take.key, same) && !self.pending.iter().any(pending) {
            self.leaves.push(take);
        }
    }

    /// The round trip failed and was cleaned up. That says nothing of who waits: the server hears
    /// of those who do not any more with the next one.
    pub(super) fn fail(&mut self, riders: Riders<S::Key>, error: &Error) {
        self.settle_gives(riders.gives);
        self.leaves.extend(riders.leaves);
        for taking in riders.takes.iter().filter(|taking| taking.take.waits) {
            self.tell_of_leaving(taking.take.clone());
        }
        self.fail_takes(riders.takes, error);
    }

    pub(super) fn fail_takes(&mut self, takes: Vec<Taking<S::Key>>, error: &Error) {
        for taking in takes {
            self.answer(taking, Err(error.clone()));
        }
    }

    pub(super) fn answer(
        &mut self,
        taking: Taking<S::Key>,
        answer: Result<Option<Granted<S::Key>>>,
    ) {
        // Before the answer: whoever reads it may ask again at once. And whoever gets the place
        // finds the session that had it without a load.
        self.refused(&taking.take);
        drop(taking.claim);
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
            let claim = claims.swap_remove(at);
            self.cell.unload();
            drop(claim);
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
