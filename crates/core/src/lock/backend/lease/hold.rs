//! A kept lease, as a hold.

use super::{LeaseServer, Shared};
use crate::lock::{
    Deadline, Error, ErrorKind, Instant, LossSignal, Lost, Result, Token,
    backend::{Hold, keeper::spawn, upgrade::UpgradeGate},
};
use std::{
    fmt,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
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
            keeper,
            number,
            cell,
            upgrades,
            lost,
            ..
        } = self;
        // No renewal after the surrender.
        keeper.book().strike(number);
        async move {
            // By then it has run out at the server too, by the slowest clock we allow for: whoever
            // waits for it here need not wait for an answer that does not come.
            let over_at = cell.valid_until() + cell.time / 25 + Duration::from_millis(10);
            let left = over_at.remaining();
            let ran_out = lost.get().is_some() || left.is_zero();
            let surrendered = timeout(left, keeper.surrender(&cell, &upgrades)).await;
            if surrendered.is_err() {
                // Asked anew where nobody waits for it: the server may have renewed a lease without our
                // knowing.
                spawn(async move { keeper.surrender(&cell, &upgrades).await });
            }
            match surrendered {
                _ if ran_out => Ok(()),
                Ok(surrendered) => surrendered,
                Err(_) => {
                    let message =
                        "the server did not answer the release; the lease has run out instead";
                    Err(Error::new(ErrorKind::Unavailable, message))
                }
            }
        }
    }
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
