//! The task that owns one connection.

use super::{
    KeyOf, Open, Options, Session, Take,
    claims::Claim,
    early::{Early, answer},
    link::SessionCell,
    rests::Rests,
    riders::{Giving, Rider, Riders, Taking, Ticket},
    waiters::Waiters,
};
use crate::lock::{
    Deadline, Error, ErrorKind, Instant, Loss, Result, backend::lease::good_until, clock,
};
use std::{
    collections::{HashMap, VecDeque},
    sync::Arc,
};
use tokio::sync::{mpsc, oneshot};

pub(super) use super::link::{Granted, Link};

/// What can be asked of a session.
#[derive(Debug)]
pub(super) enum Ask<K: std::hash::Hash + Eq> {
    Take(Taking<K>),
    Give(Giving<K>),
    /// These ride together.
    Together(Vec<Taking<K>>),
    /// This one is waited for at the server until then.
    Wait(Taking<K>, Deadline),
    /// Somebody let go of this.
    Again(K),
    /// The one with this ticket does not wait any more.
    Leave(K, Ticket),
}

pub(super) type Reply<K> = oneshot::Sender<Result<Option<Granted<K>>>>;

/// A session that is opened by running the future.
pub(super) fn start<O: Open>(
    open: Arc<O>,
    options: Options,
    rests: Arc<Rests<KeyOf<O>>>,
) -> (Link<KeyOf<O>>, impl Future<Output = ()> + Send) {
    let (sender, asks) = mpsc::unbounded_channel();
    let cell = Arc::new(SessionCell::new());
    let link = Link::new(sender.clone(), cell.clone(), options.server_bears);
    let to_self = sender.downgrade();
    let run = async move {
        let mut asks = Early::new(asks, cell.clone());
        // Dropped before what was asked: whoever hears nothing asks again, and not here.
        let _ended = Ended(cell.clone());
        let opening = tokio::time::timeout(options.patience, open.open(options.server_bears));
        let Some(opened) = asks.beside(opening).await else {
            return;
        };
        match opened.unwrap_or_else(|_| Err(late())) {
            Err(error) => {
                cell.end(Loss::Disconnected);
                asks.refuse_all(&error);
            }
            Ok(session) => {
                let (early, asks) = asks.into_parts();
                let mut actor = Actor {
                    session,
                    options,
                    cell,
                    asks,
                    to_self,
                    rests,
                    pending: VecDeque::new(),
                    to_wait: VecDeque::new(),
                    denied: None,
                    leaves: Vec::new(),
                    waiters: Waiters::default(),
                    held: HashMap::new(),
                    idle_since: Instant::now(),
                    asked_at: Instant::now(),
                    has_failed: false,
                };
                for ask in early {
                    actor.admit_later(ask);
                }
                actor.serve().await;
            }
        }
    };
    (link, run)
}

/// Why there is no answer although the session may well be opened later.
pub(super) fn late() -> Error {
    let message = "the server did not let us in in time";
    Error::new(ErrorKind::Unavailable, message)
}

pub(super) struct Actor<S: Session> {
    pub(super) session: S,
    pub(super) options: Options,
    pub(super) cell: Arc<SessionCell>,
    pub(super) asks: mpsc::UnboundedReceiver<Ask<S::Key>>,
    pub(super) to_self: mpsc::WeakUnboundedSender<Ask<S::Key>>,
    pub(super) rests: Arc<Rests<S::Key>>,
    /// Asked, and not yet in a batch.
    pub(super) pending: VecDeque<Rider<S::Key>>,
    /// To be waited for at the server.
    pub(super) to_wait: VecDeque<(Taking<S::Key>, Deadline)>,
    /// To be told so when the connection is gone.
    pub(super) denied: Option<(Taking<S::Key>, Error)>,
    /// Refused, and known to nobody any more but the server.
    pub(super) leaves: Vec<Take<S::Key>>,
    pub(super) waiters: Waiters<S::Key>,
    pub(super) held: HashMap<S::Key, Vec<Claim<S::Key>>>,
    pub(super) idle_since: Instant,
    /// When the server was last asked for anything.
    pub(super) asked_at: Instant,
    /// Whether that failed.
    has_failed: bool,
}

/// A driver that panics ends its session: guards hear of it before the connection and the claims
/// are gone.
impl<S: Session> Drop for Actor<S> {
    fn drop(&mut self) {
        self.cell.end(Loss::Disconnected);
    }
}

/// The same for a driver that panics before there is a session.
struct Ended(Arc<SessionCell>);

impl Drop for Ended {
    fn drop(&mut self) {
        self.0.end(Loss::Disconnected);
    }
}

/// Why a session ended, if not because nobody needs it.
type End = Option<(Loss, Error)>;

/// What a session that had nothing to do was woken up by.
enum Event<K: std::hash::Hash + Eq> {
    Ask(Ask<K>),
    /// Somebody let go of this.
    Freed(K),
    /// It is time to try again for all who wait.
    Again,
    /// The server was not asked for a while: time to prove that the connection lives.
    Ping,
}

impl<S: Session> Actor<S> {
    async fn serve(mut self) {
        let end = loop {
            let mut proof_is_due = false;
            if self.has_nothing_to_send() {
                match self.next_event().await {
                    Ok(Event::Ask(ask)) => self.admit_later(ask),
                    Ok(Event::Freed(key)) => self.again(&key),
                    Ok(Event::Again) => {}
                    Ok(Event::Ping) => proof_is_due = true,
                    Err(end) => break end,
                }
            }
            while let Ok(ask) = self.asks.try_recv() {
                self.admit_later(ask);
            }
            if let Err(error) = self.hear().await {
                break Some((Loss::Disconnected, error));
            }
            self.again_for_all();
            if self.has_nothing_to_send() && !proof_is_due {
                continue;
            }
            if let Some((taking, deadline)) = self.to_wait.pop_front() {
                match self.wait_at_server(taking, deadline).await {
                    Ok(()) => {
                        self.idle_since = Instant::now();
                        continue;
                    }
                    Err(end) => break Some(end),
                }
            }
            if let Err(end) = self.round().await {
                break Some(end);
            }
        };
        self.end(end);
    }

    /// Who left is told of at once; after a failure, with whatever comes next.
    fn has_nothing_to_send(&self) -> bool {
        self.pending.is_empty()
            && self.to_wait.is_empty()
            && (self.leaves.is_empty() || self.has_failed)
    }

    /// Takes in what is asked, for one of the next round trips.
    fn admit_later(&mut self, ask: Ask<S::Key>) {
        match ask {
            Ask::Take(taking) => self.pending.push_back(Rider::Take(taking)),
            Ask::Give(giving) => self.pending.push_back(Rider::Give(giving)),
            Ask::Wait(taking, deadline) => self.to_wait.push_back((taking, deadline)),
            Ask::Together(takings) => self.pending.extend(takings.into_iter().map(Rider::Take)),
            Ask::Again(key) => self.again(&key),
            Ask::Leave(key, ticket) => self.leave(&key, &ticket),
        }
    }

    /// Takes in what was heard while there was something to do.
    async fn hear(&mut self) -> Result<()> {
        while !self.waiters.is_empty() {
            let heard = tokio::select! {
                biased;
                heard = self.session.news() => heard?,
                () = std::future::ready(()) => break,
            };
            self.again(&heard);
        }
        Ok(())
    }

    /// Waits for something to do; an error for the end.
    async fn next_event(&mut self) -> Result<Event<S::Key>, End> {
        let linger_over = self.idle_since + self.options.linger;
        let idle = self.held.is_empty() && self.waiters.is_empty();
        let runs_out = self.cell.valid_until();
        let again_at = self.waiters.again_at();
        tokio::select! {
            ask = self.asks.recv() => ask.map(Event::Ask).ok_or(None),
            news = self.session.news() => match news {
                Ok(key) => Ok(Event::Freed(key)),
                Err(error) => Err(Some((Loss::Disconnected, error))),
            },
            () = clock::sleep_until(linger_over), if idle => Err(None),
            () = clock::sleep_until(again_at.unwrap_or(linger_over)), if again_at.is_some() => {
                Ok(Event::Again)
            }
            () = clock::nap_until(runs_out.unwrap_or(linger_over)), if runs_out.is_some() => {
                Err(Some((Loss::Expired, Error::new(ErrorKind::Unavailable, "no news in time"))))
            }
            // Counted from the last round trip: what is heard meanwhile proves nothing to the server.
            () = clock::sleep_until(self.asked_at + self.options.ping_every) => Ok(Event::Ping),
        }
    }

    /// One round trip with all that may ride together.
    async fn round(&mut self) -> Result<(), (Loss, Error)> {
        let riders = self.board();
        let batch = riders.batch();
        if !batch.takes.is_empty() {
            self.idle_since = Instant::now();
        }
        let sent_at = Instant::now();
        self.asked_at = sent_at;
        let end_at = self.give_up_at(sent_at);
        match tokio::time::timeout(end_at.remaining(), self.session.exchange(&batch)).await {
            Ok(Ok(answer)) if !self.is_too_late(sent_at) => {
                self.has_failed = false;
                self.cell.heard_of(sent_at, self.options.server_bears);
                self.settle(riders, answer, sent_at.elapsed())
            }
            Ok(Err(error)) => {
                let cleaned = self.session.clean_up(&batch);
                match tokio::time::timeout(end_at.remaining(), cleaned).await {
                    Ok(Ok(())) => {
                        self.has_failed = true;
                        self.fail(riders, &error);
                        Ok(())
                    }
                    _ => Err(self.ends_with(riders, error)),
                }
            }
            Ok(Ok(_)) | Err(_) => {
                let message = "the server did not answer in time";
                Err(self.ends_with(riders, Error::new(ErrorKind::Unavailable, message)))
            }
        }
    }

    /// When to stop waiting for what was sent at `sent_at`.
    fn give_up_at(&self, sent_at: Instant) -> Instant {
        let patience = sent_at + self.options.patience;
        self.borne_until(sent_at)
            .map_or(patience, |until| until.min(patience))
    }

    /// Until when the server bears the session, if it hears nothing after `sent_at`.
    fn borne_until(&self, sent_at: Instant) -> Option<Instant> {
        let first = || Some(good_until(sent_at, self.options.server_bears?));
        self.cell.valid_until().or_else(first)
    }

    /// Whether the server may have given the session up already. No answer heals that.
    fn is_too_late(&self, sent_at: Instant) -> bool {
        self.borne_until(sent_at).is_some_and(Instant::has_passed)
    }

    /// The session ends in the middle of a round. Everybody hears that it is over before the
    /// riders learn that they must try elsewhere, or they would try here.
    fn ends_with(&mut self, riders: Riders<S::Key>, error: Error) -> (Loss, Error) {
        let loss = if self.is_too_late(self.asked_at) {
            Loss::Expired
        } else {
            Loss::Disconnected
        };
        self.cell.end(loss);
        if error.is_transient() {
            drop(riders);
        } else {
            self.fail_takes(riders.takes, &error);
        }
        (loss, error)
    }

    /// Guards hear of it before the keys are free: nobody comes in beside a guard that is valid.
    fn end(mut self, end: End) {
        self.asks.close();
        match &end {
            None => self.cell.end(Loss::Disconnected),
            Some((loss, error)) => {
                tracing::debug!(%error, holds = self.held.len(), "a session ended");
                self.cell.end(*loss);
            }
        }
        // The claims go, and with every ask its answer: askers try elsewhere.
        let denied = self.denied.take();
        drop(self);
        if let Some((taking, error)) = denied {
            answer(taking, Err(error));
        }
    }
}
