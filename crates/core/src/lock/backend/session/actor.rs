//! The task that owns one connection.

use super::{
    Batch, Give, KeyOf, Open, Options, Session, Take, claims::Claim, link::SessionCell,
    riders::Riders,
};
use crate::lock::{Error, ErrorKind, Instant, Loss, Result, clock};
use std::{
    collections::{HashMap, VecDeque},
    sync::Arc,
};
use tokio::sync::{mpsc, oneshot};

pub(super) use super::link::{Granted, Link};

/// What can be asked of a session.
#[derive(Debug)]
pub(super) enum Ask<K: std::hash::Hash + Eq> {
    Take {
        take: Take<K>,
        /// The place it takes; an upgrade has one already.
        claim: Option<Claim<K>>,
        reply: oneshot::Sender<Result<Option<Granted<K>>>>,
    },
    Give {
        give: Give<K>,
        reply: Option<oneshot::Sender<Result<()>>>,
    },
}

impl<K: std::hash::Hash + Eq> Ask<K> {
    pub(super) fn key(&self) -> &K {
        match self {
            Self::Take { take, .. } => &take.key,
            Self::Give { give, .. } => &give.key,
        }
    }
}

pub(super) type Reply<K> = oneshot::Sender<Result<Option<Granted<K>>>>;

/// A session that is opened by running the future.
pub(super) fn start<O: Open>(
    open: Arc<O>,
    options: Options,
) -> (Link<KeyOf<O>>, impl Future<Output = ()> + Send) {
    let (sender, asks) = mpsc::unbounded_channel();
    let cell = Arc::new(SessionCell::new());
    let link = Link::new(sender.clone(), cell.clone());
    let to_self = sender.downgrade();
    let run = async move {
        let _ended = Ended(cell.clone());
        let opened = tokio::time::timeout(options.patience, open.open()).await;
        let opened = opened.unwrap_or_else(|_| {
            Err(Error::new(
                ErrorKind::Unavailable,
                "the server did not let us in in time",
            ))
        });
        match opened {
            Err(error) => refuse_all(&cell, asks, &error),
            Ok(session) => {
                Actor::new(session, options, cell, asks, to_self)
                    .serve()
                    .await
            }
        }
    };
    (link, run)
}

fn refuse_all<K: std::hash::Hash + Eq>(
    cell: &SessionCell,
    mut asks: mpsc::UnboundedReceiver<Ask<K>>,
    error: &Error,
) {
    cell.end(Loss::Disconnected);
    asks.close();
    while let Ok(ask) = asks.try_recv() {
        if let Ask::Take { claim, reply, .. } = ask {
            // Before the answer: whoever reads it may ask again at once.
            drop(claim);
            let _ = reply.send(Err(error.clone()));
        }
    }
}

pub(super) struct Actor<S: Session> {
    pub(super) session: S,
    pub(super) options: Options,
    pub(super) cell: Arc<SessionCell>,
    pub(super) asks: mpsc::UnboundedReceiver<Ask<S::Key>>,
    pub(super) to_self: mpsc::WeakUnboundedSender<Ask<S::Key>>,
    /// Asked, and not yet in a batch.
    pub(super) pending: VecDeque<Ask<S::Key>>,
    pub(super) held: HashMap<S::Key, Vec<Claim<S::Key>>>,
    pub(super) idle_since: Instant,
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

impl<S: Session> Actor<S> {
    fn new(
        session: S,
        options: Options,
        cell: Arc<SessionCell>,
        asks: mpsc::UnboundedReceiver<Ask<S::Key>>,
        to_self: mpsc::WeakUnboundedSender<Ask<S::Key>>,
    ) -> Self {
        let idle_since = Instant::now();
        let (pending, held) = (VecDeque::new(), HashMap::new());
        Self {
            session,
            options,
            cell,
            asks,
            to_self,
            pending,
            held,
            idle_since,
        }
    }

    async fn serve(mut self) {
        let end = loop {
            if self.pending.is_empty() {
                match self.next_ask().await {
                    Ok(Some(ask)) => self.pending.push_back(ask),
                    // Nothing was asked for a while: prove that the connection lives.
                    Ok(None) => {}
                    Err(end) => break end,
                }
            }
            while let Ok(ask) = self.asks.try_recv() {
                self.pending.push_back(ask);
            }
            if let Err(end) = self.round().await {
                break Some(end);
            }
        };
        self.end(end);
    }

    /// Waits for something to do; `None` for a ping, an error for the end.
    async fn next_ask(&mut self) -> Result<Option<Ask<S::Key>>, End> {
        let linger_over = self.idle_since + self.options.linger;
        let idle = self.held.is_empty();
        let runs_out = self.cell.valid_until();
        tokio::select! {
            ask = self.asks.recv() => ask.map(Some).ok_or(None),
            error = self.session.broken() => Err(Some((Loss::Disconnected, error))),
            () = clock::sleep_until(linger_over), if idle => Err(None),
            () = clock::nap_until(runs_out.unwrap_or(linger_over)), if runs_out.is_some() => {
                Err(Some((Loss::Expired, Error::new(ErrorKind::Unavailable, "no news in time"))))
            }
            () = tokio::time::sleep(self.options.ping_every) => Ok(None),
        }
    }

    /// One round trip with all that may ride together.
    async fn round(&mut self) -> Result<(), (Loss, Error)> {
        let riders = self.board();
        let batch = Batch {
            gives: riders.gives.iter().map(|(give, _)| give.clone()).collect(),
            takes: riders.takes.iter().map(|(take, ..)| take.clone()).collect(),
        };
        if !batch.takes.is_empty() {
            self.idle_since = Instant::now();
        }
        let sent_at = Instant::now();
        let end_at = self.give_up_at(sent_at);
        match tokio::time::timeout(end_at.remaining(), self.session.exchange(&batch)).await {
            Ok(Ok(taken)) if !self.is_too_late() => {
                self.cell.heard_of(sent_at, self.options.server_bears);
                self.settle(riders, taken)
            }
            Ok(Err(error)) => {
                let cleaned = self.session.clean_up(&batch);
                match tokio::time::timeout(end_at.remaining(), cleaned).await {
                    Ok(Ok(())) => {
                        self.settle_gives(riders.gives);
                        self.fail_takes(riders.takes, &error);
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
        self.cell
            .valid_until()
            .map_or(patience, |until| until.min(patience))
    }

    /// Whether the server may have given the session up already. No answer heals that.
    fn is_too_late(&self) -> bool {
        self.cell.valid_until().is_some_and(Instant::has_passed)
    }

    /// The session ends in the middle of a round. Everybody hears that it is over before the
    /// riders learn that they must try elsewhere, or they would try here.
    fn ends_with(&mut self, riders: Riders<S::Key>, error: Error) -> (Loss, Error) {
        let loss = if self.is_too_late() {
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
    }
}
