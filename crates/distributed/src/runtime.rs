//! A runtime on many nodes.

use crate::{client::DistributedClient, cluster::LockCluster, options::DistributedOptions};
use lockwork_core::{
    lock::Locks,
    workflow::{Client, InstanceId, Result, Runtime},
};
use lockwork_runtime::{Drained, Draining, Host, LocalRuntime, RuntimeBuilder, store::NodeRow};
use std::{ops::Deref, sync::Arc};

/// Turns a runtime into one of many nodes.
pub trait Distributed {
    /// Builds a runtime that shares its store with others, and by `locks` keeps out of their way. The last call of a
    /// builder, instead of [`build`](RuntimeBuilder::build).
    ///
    /// It keeps what it was handed for as long as [`DistributedOptions::lease`], if its own options say longer.
    ///
    /// # Errors
    /// [`Invalid`](lockwork_core::workflow::ErrorKind::Invalid) if the locks reach no other machine and
    /// [`allow_local_locks`](DistributedOptions::allow_local_locks) is not set.
    fn distributed(self, locks: Locks, options: DistributedOptions) -> Result<DistributedRuntime>;
}

impl Distributed for RuntimeBuilder {
    fn distributed(self, locks: Locks, options: DistributedOptions) -> Result<DistributedRuntime> {
        let cluster = LockCluster::new(locks, options)?;
        let local = self.cluster(cluster.clone()).build();
        Ok(DistributedRuntime { local, cluster })
    }
}

/// Runs workflows on this node, beside others. Everything that a [`LocalRuntime`] can do, it can.
#[derive(Clone, Debug)]
pub struct DistributedRuntime {
    local: LocalRuntime,
    cluster: LockCluster,
}

impl DistributedRuntime {
    /// The nodes that share the store, by name: those too that died a while ago.
    ///
    /// # Errors
    /// Those of the store.
    pub async fn nodes(&self) -> Result<Vec<NodeRow>> {
        self.store().nodes().await
    }

    /// How many locks could not be given back, since this node began. Each was told at `warn`, and ends by itself.
    #[must_use]
    pub fn failed_releases(&self) -> u64 {
        self.cluster.failed_releases()
    }

    /// As [`LocalRuntime::drain`]: bursts under way stop between two steps, and other nodes go on with them at once. Its
    /// locks are given back too.
    pub async fn drain(&self) -> Drained {
        let drained = self.local.drain().await;
        self.cluster.leave().await;
        drained
    }
}

impl Deref for DistributedRuntime {
    type Target = LocalRuntime;

    fn deref(&self) -> &LocalRuntime {
        &self.local
    }
}

impl Runtime for DistributedRuntime {
    fn client(&self, id: Option<InstanceId>) -> Arc<dyn Client> {
        Arc::new(DistributedClient(self.local.client(id)))
    }
}

impl Host for DistributedRuntime {
    fn local(&self) -> &LocalRuntime {
        &self.local
    }

    fn drain(&self) -> Draining<'_> {
        Box::pin(Self::drain(self))
    }
}
