//! The stand-in server, for the engine's two halves: leases, and sessions.
//!
//! Each case has a server of its own, so that one can be told to misbehave.

use crate::{
    BoxFuture, Harness, Promise, Residue, Started,
    standin::{LeaseBackend, Server, SessionBackend},
};
use lockwork::{Locks, Result};
use std::{net::SocketAddr, sync::Arc, time::Duration};

struct StandIn {
    server: Server,
    kind: Kind,
}

#[derive(Clone, Copy)]
enum Kind {
    Lease,
    Session,
}

/// Short enough to see them end, long enough for a busy machine to renew them.
const LEASE: Duration = Duration::from_secs(1);

/// A stand-in for servers that grant leases.
///
/// # Errors
/// Never.
pub fn lease() -> Started {
    Ok(Arc::new(StandIn {
        server: Server::start(),
        kind: Kind::Lease,
    }))
}

/// A stand-in for servers whose grants live on a connection.
///
/// # Errors
/// Never.
pub fn session() -> Started {
    Ok(Arc::new(StandIn {
        server: Server::start(),
        kind: Kind::Session,
    }))
}

impl Kind {
    fn locks(self, addr: SocketAddr, tenure: Duration) -> Locks {
        match self {
            Self::Lease => Locks::with_tenure(LeaseBackend::with_lease(addr, LEASE), tenure),
            Self::Session => Locks::with_tenure(SessionBackend::new(addr), tenure),
        }
    }
}

impl Harness for StandIn {
    fn client(&self, tenure: Duration) -> BoxFuture<'_, Result<Locks>> {
        Box::pin(std::future::ready(Ok(self
            .kind
            .locks(self.server.addr(), tenure))))
    }

    fn url(&self) -> Option<String> {
        let addr = self.server.addr();
        Some(match self.kind {
            Kind::Lease => format!("standin-lease://{addr}?lease={}ms", LEASE.as_millis()),
            Kind::Session => format!("standin-session://{addr}"),
        })
    }

    fn sever(&self) -> Option<BoxFuture<'_, ()>> {
        Some(Box::pin(async { self.server.sever_all() }))
    }

    fn mute(&self) {
        self.server.mute_pushes(true);
    }

    fn residue(&self) -> Option<Residue> {
        let server = &self.server;
        Some(Residue {
            locks: server.locks_now(),
            waiters: server.waiters_now(),
        })
    }

    fn promises(&self, promise: Promise) -> bool {
        // Sessions here are asked and never wait, so the server knows of no order among them.
        let always = matches!(
            promise,
            Promise::WholeNames
                | Promise::NameSpaces
                | Promise::KnowsHolders
                | Promise::KnowsTokens
        );
        always || (matches!(self.kind, Kind::Lease) && promise != Promise::ListsHeld)
    }

    fn takeover(&self) -> Duration {
        match self.kind {
            Kind::Lease => LEASE + Duration::from_secs(1),
            Kind::Session => Duration::from_millis(500),
        }
    }

    fn notice(&self) -> Duration {
        match self.kind {
            Kind::Lease => LEASE,
            Kind::Session => Duration::from_millis(300),
        }
    }

    fn patience(&self) -> Duration {
        Duration::from_millis(700)
    }
}
