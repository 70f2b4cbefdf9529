//! A kept lease, as a hold.

use super::{LeaseServer, Shared};
use crate::lock::{
    Deadline, Error, ErrorKind, Instant, LossSignal, Lost, Result, Token,
    backend::{Hold, keeper, upgrade::UpgradeGate},
};
use futures_util::{FutureExt as _, task::AtomicWaker};
use std::{
    fmt,
    future::poll_fn,
    pin::pin,
    sync::{
        Arc,
        atomic::{AtomicU8, AtomicU64, Ordering},
    },
    task::{Context, Poll},
    time::Duration,
};
use tokio::time::timeout;

/// What the keeper and the hold both know.
#[derive(Debug)]
pub(super) struct Cell<S: LeaseServer> {
    pub(super) lease: Arc<S::Lease>,
    pub(super) time: Duration,
    pub(super) signal: LossSignal,
    valid_until: AtomicU64,
    stage: AtomicU8,
    /// Who gives it back, and waits for that.
    releaser: AtomicWaker,
}

/// What a lease is to the keeper. Each begins as the first of these. Whoever is first decides whether it is lost or
/// given back.
mod stage {
    pub(super) const HELD: u8 = 0;
    /// The keeper has told that it is lost, or is about to.
    pub(super) const LOST: u8 = 1;
    /// It is being given back: nobody is told of a loss any more.
    pub(super) const LEAVING: u8 = 2;
    /// And has run out meanwhile.
    pub(super) const OVER: u8 = 3;
}

impl<S: LeaseServer> Cell<S> {
    pub(super) fn new(
        lease: Arc<S::Lease>,
        time: Duration,
        valid_until: Instant,
        signal: LossSignal,
    ) -> Self {
        let valid_until = AtomicU64::new(valid_until.as_nanos());
        Self {
            lease,
            time,
            signal,
            valid_until,
            stage: AtomicU8::new(stage::HELD),
            releaser: AtomicWaker::new(),
        }
    }

    fn becomes(&self, next: u8) -> bool {
        let (order, held) = (Ordering::AcqRel, stage::HELD);
        self.stage
            .compare_exchange(held, next, order, Ordering::Acquire)
            .is_ok()
    }

    /// It is lost, unless it is being given back.
    pub(super) fn lose(&self) -> bool {
        self.becomes(stage::LOST)
    }

    /// Whether it is being given back.
    pub(super) fn is_leaving(&self) -> bool {
        self.stage.load(Ordering::Acquire) >= stage::LEAVING
    }

    /// When it has run out at the server too, by the slowest clock we allow for: whoever waits for it
    /// here need not wait for an answer that does not come.
    pub(super) fn over_at(&self) -> Instant {
        self.valid_until() + self.time / 25 + Duration::from_millis(10)
    }

    /// It was being given back, and has run out meanwhile.
    pub(super) fn end(&self) {
        self.stage.store(stage::OVER, Ordering::Release);
        self.releaser.wake();
    }

    /// Waits until it has.
    fn poll_ended(&self, cx: &Context<'_>) -> Poll<()> {
        self.releaser.register(cx.waker());
        match self.stage.load(Ordering::Acquire) {
            stage::OVER => Poll::Ready(()),
            _ => Poll::Pending,
        }
    }

    pub(super) fn valid_until(&self) -> Instant {
        Instant::from_nanos(self.valid_until.load(Ordering::Acquire))
    }

    pub(super) fn extend(&self, until: Instant) {
        self.valid_until.store(until.as_nanos(), Ordering::Release);
    }
}

/// A lease that is kept until released.
pub struct Leased<S: LeaseServer> {
    keeper: Arc<Shared<S>>,
    number: u64,
    cell: Arc<Cell<S>>,
    token: Option<Token>,
    lost: Lost,
    upgrades: UpgradeGate,
}

impl<S: LeaseServer> Leased<S> {
    pub(super) fn new(
        keeper: Arc<Shared<S>>,
        number: u64,
        cell: Arc<Cell<S>>,
        token: Option<Token>,
        lost: Lost,
    ) -> Self {
        Self {
            keeper,
            number,
            cell,
            token,
            lost,
            upgrades: UpgradeGate::default(),
        }
    }

    /// What names it to the server.
    #[must_use]
    pub fn lease(&self) -> &S::Lease {
        &self.cell.lease
    }
}

impl<S: LeaseServer> Hold for Leased<S> {
    const QUIET: bool = S::QUIET;

    fn token(&self) -> Option<Token> {
        self.token
    }

    fn lost(&self) -> Lost {
        self.lost.clone()
    }

    fn valid_until(&self) -> Option<Instant> {
        Some(self.cell.valid_until())
    }

    async fn upgrade(&mut self, deadline: Deadline) -> Result<bool> {
        let (server, lease) = (&self.keeper.server, &self.cell.lease);
        let up = || {
            let (server, lease) = (server.clone(), lease.clone());
            async move { server.upgrade(lease).await }
        };
        let down = {
            let (server, lease) = (server.clone(), lease.clone());
            async move { server.downgrade(lease).await }
        };
        let (pace, listener) = server.pace(lease);
        let done = self
            .upgrades
            .upgrade(deadline, pace, listener, up, down)
            .await?;
        self.token = done.unwrap_or(self.token);
        Ok(done.is_some())
    }

    fn release(self) -> impl Future<Output = Result<()>> + Send {
        let Self {
            keeper: shared,
            number,
            cell,
            upgrades,
            ..
        } = self;
        // No renewal after the surrender. Of what is lost or over, whether or not anybody was told, the keeper keeps
        // no time any more.
        let kept = cell.becomes(stage::LEAVING) && !cell.over_at().has_passed();
        async move {
            let surrendered = match kept {
                true => {
                    let mut surrender = pin!(shared.surrender(&cell, &upgrades));
                    poll_fn(|cx| match surrender.as_mut().poll(cx) {
                        Poll::Ready(surrendered) => Poll::Ready(Some(surrendered)),
                        Poll::Pending => cell.poll_ended(cx).map(|()| None),
                    })
                    .await
                }
                false => {
                    let surrender = shared.surrender(&cell, &upgrades);
                    Box::pin(within(cell.over_at().remaining(), surrender)).await
                }
            };
            shared.book().strike(number);
            if surrendered.is_none() {
                // Asked anew where nobody waits for it: the server may have renewed a lease without our
                // knowing.
                keeper::spawn(async move { shared.surrender(&cell, &upgrades).await });
            }
            match surrendered {
                _ if !kept => Ok(()),
                Some(surrendered) => surrendered,
                None => {
                    let message =
                        "the server did not answer the release; the lease has run out instead";
                    Err(Error::new(ErrorKind::Unavailable, message))
                }
            }
        }
    }
}

/// What it yields, unless that takes too long.
fn within<T>(
    limit: Duration,
    work: impl Future<Output = T> + Send,
) -> impl Future<Output = Option<T>> + Send {
    let _timer_is_the_keepers = keeper::enter();
    timeout(limit, work).map(Result::ok)
}

impl<S: LeaseServer> Shared<S> {
    async fn surrender(&self, cell: &Cell<S>, upgrades: &UpgradeGate) -> Result<()> {
        upgrades.settled().await;
        self.server.surrender(cell.lease.clone()).await
    }
}

impl<S: LeaseServer> fmt::Debug for Leased<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Leased")
            .field("lease", &self.cell.lease)
            .finish_non_exhaustive()
    }
}
