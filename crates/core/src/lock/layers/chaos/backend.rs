//! The backend that meets its fates.

use super::{Chaos, hold::ChaoticHold, plan::Plan};
use crate::lock::{
    Backend, Deadline, Held, Holders, Info, LockId, Report, Request, Result,
    backend::{Owned, give_back},
};
use std::{future::Future, sync::Arc, time::Duration};

/// A backend with faults, as [`Chaos`] says.
#[derive(Debug)]
pub struct Chaotic<B> {
    plan: Arc<Plan>,
    inner: B,
}

impl<B: Backend> Chaotic<B> {
    pub(super) fn new(chaos: Chaos, inner: B) -> Self {
        Self {
            plan: Arc::new(Plan::new(chaos)),
            inner,
        }
    }

    /// Something that gives no grant.
    async fn meddle<T: Send>(&self, with: impl Future<Output = Result<T>> + Send) -> Result<T> {
        let fate = self.plan.fate();
        fate.there().await?;
        let answer = with.await?;
        fate.back().await?;
        Ok(answer)
    }

    /// Asks as it was asked, or again and again without ever waiting for a word.
    async fn ask(&self, request: Request) -> Result<Option<B::Hold>> {
        let Some(pause) = self.plan.deaf() else {
            return self.inner.acquire(request).await;
        };
        let deadline = request.deadline;
        loop {
            let last = deadline.has_passed();
            let once = Request {
                deadline: Deadline::Now,
                ..request.clone()
            };
            match self.inner.acquire(once).await? {
                None if !last => deadline.wait_for(tokio::time::sleep(pause)).await,
                answer => return Ok(answer),
            };
        }
    }
}

impl<B: Backend> Backend for Chaotic<B> {
    type Hold = ChaoticHold<B::Hold>;

    fn info(&self) -> Info {
        self.inner.info()
    }

    async fn acquire(&self, request: Request) -> Result<Option<Self::Hold>> {
        let (fate, releases) = (self.plan.fate(), request.releases.clone());
        fate.there().await?;
        let hold = self.ask(request).await?;
        // Nobody may wait for it any more while it is on its way back.
        let hold = hold.map(|hold| Owned::new(hold, releases));
        if let Err(injected) = fate.back().await {
            give_back(hold).await?;
            return Err(injected);
        }
        Ok(hold.map(|hold| ChaoticHold::new(&self.plan, hold, fate.lost_after)))
    }

    async fn acquire_all(&self, requests: Vec<Request>) -> Result<Option<Vec<Self::Hold>>> {
        let releases: Vec<_> = requests.iter().map(|one| one.releases.clone()).collect();
        let fates: Vec<_> = requests.iter().map(|_| self.plan.fate()).collect();
        for fate in &fates {
            fate.there().await?;
        }
        let holds = self.inner.acquire_all(requests).await?;
        let holds = holds.map(|holds| {
            let holds = holds.into_iter().zip(releases);
            holds
                .map(|(hold, releases)| Owned::new(hold, releases))
                .collect::<Vec<_>>()
        });
        for fate in &fates {
            if let Err(injected) = fate.back().await {
                give_back(holds.into_iter().flatten()).await?;
                return Err(injected);
            }
        }
        Ok(holds.map(|holds| {
            let holds = holds.into_iter().zip(fates);
            holds
                .map(|(hold, fate)| ChaoticHold::new(&self.plan, hold, fate.lost_after))
                .collect()
        }))
    }

    fn holders(&self, id: &LockId) -> impl Future<Output = Result<Holders>> + Send {
        self.meddle(self.inner.holders(id))
    }

    fn held(&self, beginning: &str) -> impl Future<Output = Result<Vec<Held>>> + Send {
        self.meddle(self.inner.held(beginning))
    }

    fn break_lock(&self, id: &LockId) -> impl Future<Output = Result<usize>> + Send {
        self.meddle(self.inner.break_lock(id))
    }

    fn doctor(&self) -> impl Future<Output = Result<Report>> + Send {
        self.meddle(self.inner.doctor())
    }

    fn collect(&self, idle: Duration) -> impl Future<Output = Result<usize>> + Send {
        self.meddle(self.inner.collect(idle))
    }
}
