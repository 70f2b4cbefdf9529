//! What others know of a session: where to ask, and how it is.

use super::{Give, actor::Ask};
use crate::lock::{Instant, Loss, LossSignal, Lost, Result, Token, backend::lease::good_until};
use std::{
    hash::Hash,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering},
    },
    time::Duration,
};
use tokio::sync::{mpsc, oneshot};

/// How a session is. All its holds share one of these, so that ten thousand cost no more than one.
#[derive(Debug)]
pub(super) struct SessionCell {
    live: AtomicBool,
    /// Grants, and requests for such.
    load: AtomicUsize,
    /// Zero for no limit.
    valid_until: AtomicU64,
    signal: LossSignal,
    lost: Lost,
}

impl SessionCell {
    pub(super) fn new() -> Self {
        let (signal, lost) = Lost::signal();
        Self {
            live: AtomicBool::new(true),
            load: AtomicUsize::new(0),
            valid_until: AtomicU64::new(0),
            signal,
            lost,
        }
    }

    pub(super) fn valid_until(&self) -> Option<Instant> {
        let nanos = self.valid_until.load(Ordering::Acquire);
        (nanos > 0).then(|| Instant::from_nanos(nanos))
    }

    pub(super) fn lost(&self) -> Lost {
        self.lost.clone()
    }

    /// A request sent at `sent_at` was answered.
    pub(super) fn heard_of(&self, sent_at: Instant, server_bears: Option<Duration>) {
        if let Some(bears) = server_bears {
            self.valid_until
                .store(good_until(sent_at, bears).as_nanos(), Ordering::Release);
        }
    }

    pub(super) fn unload(&self) {
        self.load.fetch_sub(1, Ordering::Relaxed);
    }

    pub(super) fn end(&self, loss: Loss) {
        self.live.store(false, Ordering::Release);
        self.signal.lose(loss);
    }
}

/// Where to ask a session. The session ends when the last of these is gone.
#[derive(Debug)]
pub(super) struct Link<K: Eq + Hash> {
    asks: mpsc::UnboundedSender<Ask<K>>,
    pub(super) cell: Arc<SessionCell>,
    /// For how long the server bears its silence.
    bears: Option<Duration>,
}

impl<K: Eq + Hash> Link<K> {
    pub(super) const fn new(
        asks: mpsc::UnboundedSender<Ask<K>>,
        cell: Arc<SessionCell>,
        bears: Option<Duration>,
    ) -> Self {
        Self { asks, cell, bears }
    }

    /// Makes room for so many requests. Each has it until it is refused or its grant given back.
    pub(super) fn reserve(&self, requests: usize) {
        self.cell.load.fetch_add(requests, Ordering::Relaxed);
    }

    /// Asks. If the session has ended, the reply's sender is dropped unanswered.
    pub(super) fn ask(&self, ask: Ask<K>) {
        let _ = self.asks.send(ask);
    }

    /// Whether the server bears its silence for so long, and `more` fit on it.
    pub(super) fn suits(&self, bears: Option<Duration>, more: usize, capacity: usize) -> bool {
        self.bears == bears && (self.load() + more <= capacity || self.load() == 0)
    }

    pub(super) fn is_live(&self) -> bool {
        self.cell.live.load(Ordering::Acquire)
    }

    pub(super) fn load(&self) -> usize {
        self.cell.load.load(Ordering::Relaxed)
    }
}

impl<K: Eq + Hash> Clone for Link<K> {
    fn clone(&self) -> Self {
        Self {
            asks: self.asks.clone(),
            cell: self.cell.clone(),
            bears: self.bears,
        }
    }
}

/// A grant on its way from the session's task to whoever asked. Dropped on the way, it is given
/// back.
#[derive(Debug)]
pub(super) struct Granted<K: Eq + Hash> {
    back: Option<(mpsc::WeakUnboundedSender<Ask<K>>, Give<K>)>,
    token: Option<Token>,
}

impl<K: Eq + Hash> Granted<K> {
    pub(super) const fn new(
        to_session: mpsc::WeakUnboundedSender<Ask<K>>,
        give: Give<K>,
        token: Option<Token>,
    ) -> Self {
        Self {
            back: Some((to_session, give)),
            token,
        }
    }

    /// Takes it; from now on the taker gives it back.
    pub(super) fn accept(mut self) -> Option<Token> {
        self.back = None;
        self.token
    }
}

impl<K: Eq + Hash> Granted<K> {
    /// Gives it back; the answer tells when that is done, if the session lives to see it.
    pub(super) fn give_back(mut self) -> oneshot::Receiver<Result<()>> {
        let (reply, given) = oneshot::channel();
        self.give(Some(reply));
        given
    }

    fn give(&mut self, reply: Option<oneshot::Sender<Result<()>>>) {
        let Some((to_session, give)) = self.back.take() else {
            return;
        };
        // A session nobody can ask any more is about to end, and with it the grant.
        if let Some(session) = to_session.upgrade() {
            let _ = session.send(Ask::Give((give, reply)));
        }
    }
}

impl<K: Eq + Hash> Drop for Granted<K> {
    fn drop(&mut self) {
        self.give(None);
    }
}
