//! What all handlers share.

use crate::{
    counts::Counts, endpoints::table::Table, keys::Keys, limits::Limits, links::Secret,
    problem::Problem, recent::Recent,
};
use lockwork_core::{lock::Locks, workflow::Time};
use lockwork_runtime::{Host, LocalRuntime, store::NodeRow};
use std::{sync::Arc, time::SystemTime};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

/// What all handlers share.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) host: Arc<dyn Host>,
    pub(crate) locks: Option<Locks>,
    pub(crate) keys: Keys,
    pub(crate) secret: Secret,
    pub(crate) limits: Limits,
    /// Where routes of workflows are.
    pub(crate) base: String,
    pub(crate) table: Table,
    pub(crate) counts: Counts,
    /// How many requests more are taken at this moment.
    pub(crate) room: Semaphore,
    /// How many bytes more are kept of bodies that are still coming.
    pub(crate) bodies: Semaphore,
    /// Whether the store answers, and if not, why.
    pub(crate) probed: Recent<Result<(), String>>,
    /// The nodes that share the store, if it answers.
    pub(crate) nodes: Recent<Option<Arc<[NodeRow]>>>,
    /// That the node shall end.
    pub(crate) end: CancellationToken,
}

pub(crate) type Node = Arc<Shared>;

impl Shared {
    pub(crate) fn runtime(&self) -> &LocalRuntime {
        self.host.local()
    }

    pub(crate) fn locks(&self) -> Result<&Locks, Problem> {
        self.locks
            .as_ref()
            .ok_or_else(|| Problem::not_found("this node has no locks: it is alone on its store"))
    }
}

/// The time, for links.
pub(crate) fn now() -> Time {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    let millis = since.unwrap_or_default().as_millis();
    Time::from_millis(i64::try_from(millis).unwrap_or(i64::MAX))
}
