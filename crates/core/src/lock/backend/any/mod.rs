//! Forgetting types: one handle for any backend, one for any hold.

mod erased;

use self::erased::{Adapter, Erased, ErasedHold};
use super::{Backend, Hold, Releases};
use crate::lock::{
    Deadline, Held, Holders, Info, Instant, LockId, Lost, Report, Request, Result, Token,
};
use std::{fmt, future::Future, sync::Arc, time::Duration};

/// Any backend, its type forgotten. Cheap to clone; itself a [`Backend`], so layers compose.
#[derive(Clone)]
pub struct AnyBackend(Arc<dyn Erased>);

/// Any hold, its type forgotten. Dropping it releases it.
#[derive(Debug)]
pub struct AnyHold(Box<dyn ErasedHold>);

impl AnyBackend {
    /// Forgets the type of `backend`.
    pub fn new(backend: impl Backend) -> Self {
        Self::counted(backend, Releases::new())
    }

    /// The same, with releases counted in `releases`.
    pub(crate) fn counted(backend: impl Backend, releases: Releases) -> Self {
        Self(Arc::new(Adapter::new(backend, releases)))
    }
}

impl Backend for AnyBackend {
    type Hold = AnyHold;

    fn info(&self) -> Info {
        self.0.info()
    }

    fn acquire(&self, request: Request) -> impl Future<Output = Result<Option<AnyHold>>> + Send {
        self.0.acquire(request)
    }

    fn acquire_all(
        &self,
        requests: Vec<Request>,
    ) -> impl Future<Output = Result<Option<Vec<AnyHold>>>> + Send {
        self.0.acquire_all(requests)
    }

    fn holders(&self, id: &LockId) -> impl Future<Output = Result<Holders>> + Send {
        self.0.holders(id.clone())
    }

    fn held(&self, beginning: &str) -> impl Future<Output = Result<Vec<Held>>> + Send {
        self.0.held(beginning.to_owned())
    }

    fn break_lock(&self, id: &LockId) -> impl Future<Output = Result<usize>> + Send {
        self.0.break_lock(id.clone())
    }

    fn doctor(&self) -> impl Future<Output = Result<Report>> + Send {
        self.0.doctor()
    }

    fn collect(&self, idle: Duration) -> impl Future<Output = Result<usize>> + Send {
        self.0.collect(idle)
    }
}

impl Hold for AnyHold {
    fn token(&self) -> Option<Token> {
        self.0.token()
    }

    fn lost(&self) -> Lost {
        self.0.lost()
    }

    fn valid_until(&self) -> Option<Instant> {
        self.0.valid_until()
    }

    #[cfg(unix)]
    fn descriptors(&self) -> std::io::Result<Vec<std::os::fd::OwnedFd>> {
        self.0.descriptors()
    }

    fn upgrade(&mut self, deadline: Deadline) -> impl Future<Output = Result<bool>> + Send {
        self.0.upgrade(deadline)
    }

    async fn release(self) -> Result<()> {
        self.0.release().end().await
    }
}

impl fmt::Debug for AnyBackend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
