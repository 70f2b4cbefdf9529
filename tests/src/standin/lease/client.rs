//! What the server can do with leases, as the engine asks for it.

use super::PACE;
use crate::standin::{
    protocol::{Reply, Request},
    wire::{Wire, unexpected},
};
use lockwork::{
    Error, Instant, LockId, Loss, OwnerId, Result,
    backend::{
        Hints, Listener, Pace, Upgrade, keeper,
        lease::{LeaseServer, Renewal},
    },
};
use std::{net::SocketAddr, sync::Arc, time::Duration};

/// How long to try to tell the server of something nobody waits for.
const SETTLE_FOR: Duration = Duration::from_secs(5);
const SETTLE_PAUSE: Duration = Duration::from_millis(20);

/// The server, as the keeper of leases sees it.
#[derive(Debug)]
pub struct LeaseClient {
    pub(super) wire: Wire,
    pub(super) hints: Hints,
}

/// What names one lease to the server.
#[derive(Clone, Debug)]
pub struct Lease {
    pub(super) id: LockId,
    pub(super) owner: OwnerId,
    pub(super) time: Duration,
}

impl Lease {
    /// The request that ends it, and refuses tries of the same owner that are still on their way.
    pub(super) fn release(&self) -> Request {
        Request::Release {
            id: self.id.clone(),
            owner: self.owner,
            tombstone: self.time,
        }
    }

    pub(super) fn leave(&self) -> Request {
        Request::Leave {
            id: self.id.clone(),
            owner: self.owner,
        }
    }
}

impl LeaseClient {
    pub(super) fn new(addr: SocketAddr) -> Self {
        let hints = Hints::new();
        let wire = Wire::to(addr, hints.clone());
        Self { wire, hints }
    }

    /// Sends `request`, now and in order, and sees to it in the background that it arrives.
    pub(super) fn settle(&self, request: Request) {
        let first = self.wire.send(request.clone());
        let wire = self.wire.clone();
        keeper::spawn(async move {
            let give_up = Instant::now() + SETTLE_FOR;
            let mut arrived = first.await.is_ok();
            while !arrived && !give_up.has_passed() {
                tokio::time::sleep(SETTLE_PAUSE).await;
                arrived = wire.send(request.clone()).await.is_ok();
            }
        });
    }
}

impl LeaseServer for LeaseClient {
    type Lease = Lease;

    async fn renew(&self, leases: Vec<Arc<Lease>>) -> Result<Vec<Renewal>> {
        let leases = leases.iter().map(|lease| (lease.id.clone(), lease.owner));
        let renewal = |renewed| match renewed {
            true => Renewal::Renewed,
            false => Renewal::Gone,
        };
        // Once: the keeper tries again by itself, and knows how much time is left.
        match self.wire.send(Request::Renew(leases.collect())).await? {
            Reply::Renewed(each) => Ok(each.into_iter().map(renewal).collect()),
            other => Err(unexpected(&other)),
        }
    }

    async fn surrender(&self, lease: Arc<Lease>) -> Result<()> {
        let released = self.wire.ask(lease.release()).await;
        if released.is_err() {
            self.settle(lease.release());
        }
        released.map(drop)
    }

    async fn upgrade(&self, lease: Arc<Lease>) -> Result<Upgrade> {
        let Lease { id, owner, .. } = (*lease).clone();
        match self.wire.ask(Request::Upgrade { id, owner }).await? {
            Reply::Granted(token) => Ok(Upgrade::Done(token)),
            Reply::Busy(_) => Ok(Upgrade::Busy),
            Reply::Gone => Err(Error::from(Loss::Taken)),
            other => Err(unexpected(&other)),
        }
    }

    async fn downgrade(&self, lease: Arc<Lease>) -> Result<()> {
        let Lease { id, owner, .. } = (*lease).clone();
        let request = Request::Downgrade { id, owner };
        self.wire.ask(request).await.map(drop)
    }

    fn pace(&self, lease: &Lease) -> (Pace, Option<Listener>) {
        (PACE, Some(self.hints.listen(&lease.id)))
    }
}
