//! The object-safe twins of the contract's traits: private, so that nobody has to know two.

use super::AnyHold;
use crate::lock::{
    Deadline, Held, Holders, Info, Instant, LockId, Lost, Report, Request, Result, Token,
    backend::{Backend, Hold, Owned, Releases, owned::Release},
};
use futures_util::FutureExt as _;
use std::{fmt, future::Future, pin::Pin, time::Duration};

type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// [`Backend`], object-safe.
pub(super) trait Erased: fmt::Debug + Send + Sync {
    fn info(&self) -> Info;
    fn acquire(&self, request: Request) -> BoxFuture<'_, Result<Option<AnyHold>>>;
    fn acquire_all(&self, requests: Vec<Request>) -> BoxFuture<'_, Result<Option<Vec<AnyHold>>>>;
    fn holders(&self, id: LockId) -> BoxFuture<'_, Result<Holders>>;
    fn held(&self, beginning: String) -> BoxFuture<'_, Result<Vec<Held>>>;
    fn break_lock(&self, id: LockId) -> BoxFuture<'_, Result<usize>>;
    fn doctor(&self) -> BoxFuture<'_, Result<Report>>;
    fn collect(&self, idle: Duration) -> BoxFuture<'_, Result<usize>>;
}

/// [`Hold`], object-safe. What is behind the pointer is [`Owned`], so its drop releases.
pub(super) trait ErasedHold: fmt::Debug + Send + Sync {
    fn token(&self) -> Option<Token>;
    fn lost(&self) -> Lost;
    fn valid_until(&self) -> Option<Instant>;
    #[cfg(unix)]
    fn descriptors(&self) -> std::io::Result<Vec<std::os::fd::OwnedFd>>;
    fn upgrade(&mut self, deadline: Deadline) -> BoxFuture<'_, Result<bool>>;
    fn release(self: Box<Self>) -> Release;
}

/// Makes a [`Backend`] an [`Erased`] one.
#[derive(Debug)]
pub(super) struct Adapter<B> {
    backend: B,
    releases: Releases,
}

impl<B: Backend> Adapter<B> {
    pub(super) const fn new(backend: B, releases: Releases) -> Self {
        Self { backend, releases }
    }

    fn own(&self, hold: B::Hold) -> AnyHold {
        AnyHold(Box::new(Owned::new(hold, self.releases.clone())))
    }
}

impl<B: Backend> Erased for Adapter<B> {
    fn info(&self) -> Info {
        self.backend.info()
    }

    fn acquire(&self, request: Request) -> BoxFuture<'_, Result<Option<AnyHold>>> {
        let acquired = self.backend.acquire(request);
        Box::pin(acquired.map(|hold| Ok(hold?.map(|hold| self.own(hold)))))
    }

    fn acquire_all(&self, requests: Vec<Request>) -> BoxFuture<'_, Result<Option<Vec<AnyHold>>>> {
        Box::pin(async move {
            let holds = self.backend.acquire_all(requests).await?;
            Ok(holds.map(|holds| holds.into_iter().map(|hold| self.own(hold)).collect()))
        })
    }

    fn holders(&self, id: LockId) -> BoxFuture<'_, Result<Holders>> {
        Box::pin(async move { self.backend.holders(&id).await })
    }

    fn held(&self, beginning: String) -> BoxFuture<'_, Result<Vec<Held>>> {
        Box::pin(async move { self.backend.held(&beginning).await })
    }

    fn break_lock(&self, id: LockId) -> BoxFuture<'_, Result<usize>> {
        Box::pin(async move { self.backend.break_lock(&id).await })
    }

    fn doctor(&self) -> BoxFuture<'_, Result<Report>> {
        Box::pin(self.backend.doctor())
    }

    fn collect(&self, idle: Duration) -> BoxFuture<'_, Result<usize>> {
        Box::pin(self.backend.collect(idle))
    }
}

impl<H: Hold> ErasedHold for Owned<H> {
    fn token(&self) -> Option<Token> {
        Hold::token(self)
    }

    fn lost(&self) -> Lost {
        Hold::lost(self)
    }

    fn valid_until(&self) -> Option<Instant> {
        Hold::valid_until(self)
    }

    #[cfg(unix)]
    fn descriptors(&self) -> std::io::Result<Vec<std::os::fd::OwnedFd>> {
        Hold::descriptors(self)
    }

    fn upgrade(&mut self, deadline: Deadline) -> BoxFuture<'_, Result<bool>> {
        Box::pin(Hold::upgrade(self, deadline))
    }

    fn release(self: Box<Self>) -> Release {
        self.begin_release()
    }
}
