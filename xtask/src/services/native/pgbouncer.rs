//! The PgBouncer of `up`, in transaction mode in front of the PostgreSQL of
//! `up`: a client gets a connection to the server for one transaction and then
//! perhaps another one, which is where locks of a session get lost.

use std::process::Command;

use lockwork_servers::pgbouncer::setup::{self, PoolMode};
use lockwork_servers::site::Site;

use crate::outcome::{Failure, Outcome};

/// Writes the configuration; true when it differs from what a running one read.
pub(crate) fn prepare(site: &Site, upstream: Option<u16>) -> Outcome<bool> {
    let upstream = upstream.ok_or_else(|| {
        Failure::failed("PgBouncer needs PostgreSQL behind it; run `cargo xtask up` without names.")
    })?;
    Ok(setup::configure(
        site,
        upstream,
        PoolMode::Transaction,
        true,
    )?)
}

/// PgBouncer in the foreground.
pub(crate) fn command(site: &Site) -> Outcome<Command> {
    Ok(setup::command(site)?)
}
