//! A backend of grants that live on connections, through the engine's [`Pool`].

mod connection;

pub use connection::{Connection, Connector};

use super::{
    protocol::{Reply, Request as Ask},
    wire::{Wire, unexpected},
};
use lockwork::{
    Backend, Capability, Guarantee, Holders, Info, LockId, Name, Report, Request, Result, Scope,
    Space,
    backend::{
        Owned,
        session::{Options, Pool, SessionHold},
        try_each,
    },
};
use std::{net::SocketAddr, time::Duration};

/// Session locks of a [`Server`](super::Server). Clones share their sessions.
#[derive(Clone, Debug)]
pub struct SessionBackend {
    pool: Pool<Connector>,
    /// For hints, and for what is asked about locks rather than of them.
    control: Wire,
}

impl SessionBackend {
    /// Locks of a server that bears silent sessions.
    #[must_use]
    pub fn new(addr: SocketAddr) -> Self {
        Self::with_options(addr, Options::default())
    }

    /// Locks of a server that ends a session which has been silent for `limit`.
    #[must_use]
    pub fn with_session_timeout(addr: SocketAddr, limit: Duration) -> Self {
        Self::with_options(addr, bearing(Options::default(), limit))
    }

    /// Locks on sessions that are used as `options` say.
    #[must_use]
    pub fn with_options(addr: SocketAddr, options: Options) -> Self {
        let pool = Pool::new(Connector::to(addr), options);
        let control = Wire::to(addr, pool.hints().clone());
        Self { pool, control }
    }

    /// How many sessions are open.
    #[must_use]
    pub fn sessions(&self) -> usize {
        self.pool.sessions()
    }

    /// Asks whether the server lives.
    ///
    /// # Errors
    /// [`Unavailable`](lockwork::ErrorKind::Unavailable) if it does not.
    pub async fn ping(&self) -> Result<()> {
        self.control.ask(Ask::Ping).await.map(drop)
    }
}

/// `options` for a server that ends a session which has been silent for `limit`.
pub(super) fn bearing(mut options: Options, limit: Duration) -> Options {
    options.server_bears = Some(limit);
    options.ping_every = options.ping_every.min(limit / 4);
    options
}

impl Backend for SessionBackend {
    type Hold = SessionHold<(Space, Name)>;

    fn info(&self) -> Info {
        Info::new(
            "standin-session",
            Scope::Cluster,
            Guarantee::Session,
            Capability::all(),
        )
    }

    async fn acquire(&self, request: Request) -> Result<Option<Self::Hold>> {
        Ok(self.pool.acquire(request).await?.map(Owned::into_inner))
    }

    async fn acquire_all(&self, requests: Vec<Request>) -> Result<Option<Vec<Self::Hold>>> {
        try_each(self, requests).await
    }

    async fn holders(&self, id: &LockId) -> Result<Holders> {
        match self.control.ask(Ask::Holders(id.clone())).await? {
            Reply::Holders(found) => Ok(found),
            other => Err(unexpected(&other)),
        }
    }

    async fn break_lock(&self, id: &LockId) -> Result<usize> {
        match self.control.ask(Ask::Break(id.clone())).await? {
            Reply::Broken(count) => Ok(count),
            other => Err(unexpected(&other)),
        }
    }

    async fn doctor(&self) -> Result<Report> {
        self.ping().await?;
        Ok(super::report())
    }
}
