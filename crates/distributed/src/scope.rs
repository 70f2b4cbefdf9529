//! Locks that end at this process or machine keep no other node out.

use lockwork_core::{
    lock::{Locks, Scope},
    workflow::{Error, ErrorKind, Result},
};

/// Refuses locks that do not reach every node. Layers forward what a backend is, so none can hide it.
///
/// # Errors
/// [`Invalid`](ErrorKind::Invalid), with a sentence that says what to do.
pub(crate) fn check(locks: &Locks, allow_local: bool) -> Result<()> {
    let info = locks.info();
    let reach = match info.scope {
        Scope::Process => "tasks of this process",
        Scope::Host => "processes of this machine",
        // Also what is to come: a scope that we do not know is none of the two that are too small.
        _ => return Ok(()),
    };
    if allow_local {
        tracing::debug!(scheme = info.scheme, reach, "local locks are allowed");
        return Ok(());
    }
    let message = "these locks keep no other machine out: use locks in PostgreSQL, Redis, SQL Server or Azure, or say \
                   allow_local_locks if all nodes are within their reach";
    Err(Error::new(ErrorKind::Invalid, message)
        .with("scheme", info.scheme)
        .with("reach", reach))
}
