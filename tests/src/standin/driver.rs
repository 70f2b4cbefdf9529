//! Reaching the stand-in by URL, from a child process say.

use super::{LeaseBackend, SessionBackend, session::bearing};
use lockwork::{
    Driver, Error, ErrorKind, Locks, Query, Result,
    backend::{queue::DEFAULT_TENURE, session::Options},
};
use std::{net::SocketAddr, time::Duration};

/// `standin-lease://127.0.0.1:PORT`. Options: `lease`, `tenure`.
pub const LEASE: Driver = Driver {
    schemes: &["standin-lease"],
    connect: |url| {
        let backend = Query::of(&url).and_then(|query| {
            let addr = address(url.host_str(), url.port())?;
            lease_backend(addr, query)
        });
        Box::pin(async move {
            let (backend, tenure) = backend?;
            backend.ping().await?;
            Ok(Locks::with_tenure(backend, tenure))
        })
    },
};

/// `standin-session://127.0.0.1:PORT`. Options: `bears`, for how long the server bears a silent
/// session; `capacity`, how many locks live on one; `tenure`.
pub const SESSION: Driver = Driver {
    schemes: &["standin-session"],
    connect: |url| {
        let backend = Query::of(&url).and_then(|query| {
            let addr = address(url.host_str(), url.port())?;
            session_backend(addr, query)
        });
        Box::pin(async move {
            let (backend, tenure) = backend?;
            backend.ping().await?;
            Ok(Locks::with_tenure(backend, tenure))
        })
    },
};

fn lease_backend(addr: SocketAddr, mut query: Query) -> Result<(LeaseBackend, Duration)> {
    let lease = query.duration("lease")?;
    let tenure = query.duration("tenure")?.unwrap_or(DEFAULT_TENURE);
    query.finish()?;
    let backend = lease.map_or_else(
        || LeaseBackend::new(addr),
        |lease| LeaseBackend::with_lease(addr, lease),
    );
    Ok((backend, tenure))
}

fn session_backend(addr: SocketAddr, mut query: Query) -> Result<(SessionBackend, Duration)> {
    let mut options = Options::default();
    if let Some(limit) = query.duration("bears")? {
        options = bearing(options, limit);
    }
    if let Some(capacity) = query.option("capacity")? {
        options.capacity = capacity;
    }
    let tenure = query.duration("tenure")?.unwrap_or(DEFAULT_TENURE);
    query.finish()?;
    Ok((SessionBackend::with_options(addr, options), tenure))
}

fn address(host: Option<&str>, port: Option<u16>) -> Result<SocketAddr> {
    let refuse = || Error::new(ErrorKind::Invalid, "write the server as 127.0.0.1:PORT");
    let (host, port) = host.zip(port).ok_or_else(refuse)?;
    format!("{host}:{port}").parse().map_err(|_| refuse())
}
