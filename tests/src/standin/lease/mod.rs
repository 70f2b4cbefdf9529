//! A backend of leases, kept by the engine's [`LeaseKeeper`].

mod client;
mod place;

pub use client::{Lease, LeaseClient};

use self::place::Place;
use super::{
    protocol::{Reply, Request as Ask},
    wire::unexpected,
};
use lockwork::{
    Backend, Capability, Guarantee, Holders, Info, LockId, Report, Request, Result, Scope,
    backend::{
        Owned, Pace,
        lease::{LeaseKeeper, Leased},
        try_each, wait_for_grant,
    },
};
use std::{net::SocketAddr, sync::Arc, time::Duration};

/// How many leases are renewed in one request.
const BATCH: usize = 128;
/// For how long a lease is granted unless asked otherwise.
const DEFAULT_LEASE: Duration = Duration::from_secs(1);
/// How often to ask again without a hint; well within the time the server keeps a waiter.
const PACE: Pace = Pace {
    least: Duration::from_millis(20),
    most: Duration::from_millis(500),
};

/// Leases of a [`Server`](super::Server). Clones share one connection.
#[derive(Clone, Debug)]
pub struct LeaseBackend(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    client: Arc<LeaseClient>,
    keeper: LeaseKeeper<LeaseClient>,
    lease: Duration,
}

impl LeaseBackend {
    /// Leases of one second from the server at `addr`. Connects in the background.
    #[must_use]
    pub fn new(addr: SocketAddr) -> Self {
        Self::with_lease(addr, DEFAULT_LEASE)
    }

    /// Leases of `lease`, where a request does not say otherwise.
    #[must_use]
    pub fn with_lease(addr: SocketAddr, lease: Duration) -> Self {
        let client = Arc::new(LeaseClient::new(addr));
        Self(Arc::new(Inner {
            keeper: LeaseKeeper::new(client.clone(), BATCH),
            client,
            lease,
        }))
    }

    /// How many leases are kept.
    #[must_use]
    pub fn kept(&self) -> usize {
        self.0.keeper.len()
    }

    /// Asks whether the server lives.
    ///
    /// # Errors
    /// [`Unavailable`](lockwork::ErrorKind::Unavailable) if it does not.
    pub async fn ping(&self) -> Result<()> {
        self.0.client.wire.ask(Ask::Ping).await.map(drop)
    }
}

impl Backend for LeaseBackend {
    type Hold = Leased<LeaseClient>;

    fn info(&self) -> Info {
        Info::new(
            "standin-lease",
            Scope::Cluster,
            Guarantee::Lease,
            Capability::all(),
        )
    }

    async fn acquire(&self, request: Request) -> Result<Option<Self::Hold>> {
        let listener = self.0.client.hints.listen(&request.id());
        let (deadline, releases) = (request.deadline, request.releases.clone());
        // Before the first try, so that however this ends, no place in line is left behind.
        let place = Arc::new(Place::new(self.0.clone(), request));
        let granted = wait_for_grant(deadline, PACE, Some(listener), &releases, || {
            place.clone().attempt(!deadline.has_passed())
        });
        Ok(granted.await?.map(Owned::into_inner))
    }

    async fn acquire_all(&self, requests: Vec<Request>) -> Result<Option<Vec<Self::Hold>>> {
        try_each(self, requests).await
    }

    async fn holders(&self, id: &LockId) -> Result<Holders> {
        match self.0.client.wire.ask(Ask::Holders(id.clone())).await? {
            Reply::Holders(found) => Ok(found),
            other => Err(unexpected(&other)),
        }
    }

    async fn break_lock(&self, id: &LockId) -> Result<usize> {
        match self.0.client.wire.ask(Ask::Break(id.clone())).await? {
            Reply::Broken(count) => Ok(count),
            other => Err(unexpected(&other)),
        }
    }

    async fn doctor(&self) -> Result<Report> {
        self.ping().await?;
        Ok(super::report())
    }
}
