//! Backends for tests of the queue: one that counts, one that grants everything.

use lockwork_core::lock::{
    Backend, Deadline, Hold, Holders, Info, Instant, LockId, Lost, Memory, MemoryHold, Mode,
    Report, Request, Result, Space, Token, backend::Present,
};
use std::{
    collections::HashMap,
    future::Future,
    pin::Pin,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
    task::{Context, Poll, Waker},
    time::Duration,
};
use tokio::sync::watch;

/// A test that hangs is a test that fails.
pub(crate) async fn within<T>(work: impl Future<Output = T>) -> T {
    tokio::time::timeout(Duration::from_secs(20), work)
        .await
        .expect("it is over: not within 20 s")
}

/// One step of `work`.
pub(crate) fn poll_once<F: Future + ?Sized>(work: &mut Pin<Box<F>>) -> Poll<F::Output> {
    work.as_mut().poll(&mut Context::from_waker(Waker::noop()))
}

/// A memory backend seen through a counter, or one that grants everything to everybody.
#[derive(Clone, Debug, Default)]
pub(crate) struct Remote(Arc<State>);

#[derive(Debug, Default)]
struct State {
    memory: Memory,
    generous: bool,
    asks: AtomicUsize,
    releases: AtomicUsize,
    valid_until: Mutex<Option<Instant>>,
    answers: Mutex<Option<watch::Receiver<bool>>>,
}

/// Keeps answers back until let go.
pub(crate) struct Answers(watch::Sender<bool>);

impl Answers {
    pub(crate) fn let_go(self) {
        self.0.send_replace(true);
    }
}

impl Remote {
    pub(crate) fn new(memory: Memory) -> Self {
        Self(Arc::new(State {
            memory,
            ..State::default()
        }))
    }

    /// Grants everything at once, as a database session does to itself.
    pub(crate) fn generous() -> Self {
        Self(Arc::new(State {
            generous: true,
            ..State::default()
        }))
    }

    pub(crate) fn asks(&self) -> usize {
        self.0.asks.load(SeqCst)
    }

    pub(crate) fn releases(&self) -> usize {
        self.0.releases.load(SeqCst)
    }

    pub(crate) fn grants_valid_until(&self, when: Instant) {
        *self
            .0
            .valid_until
            .lock()
            .expect("no test panics under this lock") = Some(when);
    }

    pub(crate) fn hold_answers(&self) -> Answers {
        let (sender, receiver) = watch::channel(false);
        *self
            .0
            .answers
            .lock()
            .expect("no test panics under this lock") = Some(receiver);
        Answers(sender)
    }
}

#[derive(Debug)]
pub(crate) struct RemoteHold {
    remote: Remote,
    inner: Option<MemoryHold>,
    valid_until: Option<Instant>,
}

impl Backend for Remote {
    type Hold = RemoteHold;

    fn info(&self) -> Info {
        self.0.memory.info()
    }

    async fn acquire(&self, request: Request) -> Result<Option<RemoteHold>> {
        self.0.asks.fetch_add(1, SeqCst);
        let answers = self
            .0
            .answers
            .lock()
            .expect("no test panics under this lock")
            .clone();
        if let Some(mut answers) = answers {
            answers
                .wait_for(|gone| *gone)
                .await
                .expect("the sender lives until it lets go");
        }
        let inner = if self.0.generous {
            None
        } else {
            self.0.memory.acquire(request).await?
        };
        if inner.is_none() && !self.0.generous {
            return Ok(None);
        }
        let valid_until = *self
            .0
            .valid_until
            .lock()
            .expect("no test panics under this lock");
        Ok(Some(RemoteHold {
            remote: self.clone(),
            inner,
            valid_until,
        }))
    }

    async fn acquire_all(&self, requests: Vec<Request>) -> Result<Option<Vec<RemoteHold>>> {
        unreachable!(
            "{} requests at once are asked of Memory in these tests",
            requests.len()
        )
    }

    async fn holders(&self, id: &LockId) -> Result<Holders> {
        self.0.memory.holders(id).await
    }

    async fn break_lock(&self, id: &LockId) -> Result<usize> {
        self.0.memory.break_lock(id).await
    }

    async fn doctor(&self) -> Result<Report> {
        self.0.memory.doctor().await
    }
}

impl Hold for RemoteHold {
    fn token(&self) -> Option<Token> {
        self.inner
            .as_ref()
            .map_or_else(|| Token::from_server(1), Hold::token)
    }

    fn lost(&self) -> Lost {
        self.inner.as_ref().map_or_else(Lost::never, Hold::lost)
    }

    fn valid_until(&self) -> Option<Instant> {
        self.valid_until
    }

    async fn upgrade(&mut self, deadline: Deadline) -> Result<bool> {
        match &mut self.inner {
            Some(inner) => inner.upgrade(deadline).await,
            None => Ok(true),
        }
    }

    async fn release(self) -> Result<()> {
        self.remote.0.releases.fetch_add(1, SeqCst);
        match self.inner {
            Some(inner) => inner.release().await,
            None => Ok(()),
        }
    }
}

/// Watches who is in, and panics when two are who must not be.
#[derive(Debug, Default)]
pub(crate) struct Inside(Mutex<(HashMap<Space, Present>, u32)>);

impl Inside {
    pub(crate) fn enter(&self, mode: Mode) {
        let mut inside = self.0.lock().expect("no test panics under this lock");
        let (present, most) = &mut *inside;
        let present = present.entry(mode.space()).or_default();
        assert!(present.admits(mode), "{mode:?} came in beside {present:?}");
        present.add(mode);
        *most = (*most).max(present.readers());
    }

    pub(crate) fn leave(&self, mode: Mode) {
        let mut inside = self.0.lock().expect("no test panics under this lock");
        inside.0.entry(mode.space()).or_default().remove(mode);
    }

    pub(crate) fn most_readers(&self) -> u32 {
        self.0.lock().expect("no test panics under this lock").1
    }
}
