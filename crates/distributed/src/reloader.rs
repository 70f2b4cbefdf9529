//! One node at a time publishes what its program defines.

use crate::{error::of_lock, options::DistributedOptions, releases::Releases};
use lockwork_core::{
    lock::Locks,
    workflow::{Answer, Result},
};
use lockwork_runtime::{DefinitionsReloader, RefreshStatus, Reloaded};
use std::sync::Arc;

const KEY: &str = "WorkflowDefinitionsReloader";

/// Goes around the reloader of a node: if another one publishes, this one does not, and says so. A node that starts waits
/// instead, because another one may be of another version.
#[derive(Debug)]
pub struct DistributedDefinitionsReloader {
    pub(crate) inner: Arc<dyn DefinitionsReloader>,
    pub(crate) locks: Locks,
    pub(crate) options: Arc<DistributedOptions>,
    pub(crate) releases: Releases,
}

impl DistributedDefinitionsReloader {
    async fn locked(&self) -> Result<Reloaded> {
        let lock = self.locks.mutex(KEY);
        let guard = lock.lock_with(self.options.at_once()).await;
        let Some(guard) = guard.map_err(|error| of_lock(error, KEY))? else {
            tracing::info!(lock = KEY, "another node publishes its definitions");
            let mut reloaded = Reloaded::default();
            reloaded.status = RefreshStatus::AlreadyInProgress;
            return Ok(reloaded);
        };
        let reloaded = self.inner.reload().await;
        self.releases.now(guard).await;
        reloaded
    }
}

impl DefinitionsReloader for DistributedDefinitionsReloader {
    fn reload(&self) -> Answer<'_, Reloaded> {
        Box::pin(self.locked())
    }
}
