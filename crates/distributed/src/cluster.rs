//! What nodes agree on, by locks.

use crate::{
    options::DistributedOptions, presence::Presence, refresher::DistributedDefinitionsRefresher,
    releases::Releases, reloader::DistributedDefinitionsReloader, scope, self_test,
    turns::LockTurns, worker::DistributedBookmarkQueueWorker,
};
use lockwork_core::{
    lock::Locks,
    workflow::{Answer, Result},
};
use lockwork_runtime::{Cluster, DefinitionsRefresher, DefinitionsReloader, Doors, Store, Turns};
use std::{sync::Arc, time::Duration};

/// How long what was given up half way may take to be taken back.
const SETTLE: Duration = Duration::from_secs(2);

/// What nodes agree on, by locks: to be given to [`RuntimeBuilder::cluster`](lockwork_runtime::RuntimeBuilder::cluster).
/// [`Distributed::distributed`](crate::Distributed::distributed) does that.
#[derive(Clone, Debug)]
pub struct LockCluster {
    locks: Locks,
    options: Arc<DistributedOptions>,
    releases: Releases,
    worker: Arc<DistributedBookmarkQueueWorker>,
    presence: Arc<Presence>,
}

impl LockCluster {
    /// By these locks. Asks nobody.
    ///
    /// # Errors
    /// [`Invalid`](lockwork_core::workflow::ErrorKind::Invalid) if they reach no other machine and
    /// [`allow_local_locks`](DistributedOptions::allow_local_locks) is not set.
    pub fn new(locks: Locks, options: DistributedOptions) -> Result<Self> {
        scope::check(&locks, options.allow_local_locks)?;
        let (options, releases) = (Arc::new(options), Releases::default());
        let worker =
            DistributedBookmarkQueueWorker::new(locks.clone(), Arc::clone(&options), &releases);
        Ok(Self {
            locks,
            options,
            releases,
            worker: Arc::new(worker),
            presence: Arc::default(),
        })
    }

    /// How many locks could not be given back, since this was made.
    #[must_use]
    pub fn failed_releases(&self) -> u64 {
        self.releases.failed()
    }

    /// The node has ended: gives back what it still has.
    pub(crate) async fn leave(&self) {
        if let Some(guard) = self.presence.end().await {
            self.releases.give_back(guard);
        }
        self.worker.left().await;
        self.releases.settled().await;
        // What was given up half way would be held by nobody, if this process ended before it is taken back.
        if tokio::time::timeout(SETTLE, self.locks.settled())
            .await
            .is_err()
        {
            tracing::debug!("some locks are still waited for: by others than this runtime");
        }
    }

    async fn begin(&self, store: &dyn Store) -> Result<()> {
        match &self.options.witness {
            Some(witness) => {
                self_test::run(&self.locks, witness, &self.options, &self.releases).await?;
            }
            // Whoever is content with locks of one machine has one process there, or knows.
            None if self.options.allow_local_locks => {}
            None => tracing::warn!(
                "nobody has tried whether these locks keep nodes apart: give `DistributedOptions::witness` a second \
                 connection to the same locks"
            ),
        }
        self.worker.divide(store.parts(self.options.parts).await?);
        Ok(())
    }
}

impl Cluster for LockCluster {
    fn turns(&self) -> Arc<dyn Turns> {
        Arc::new(LockTurns {
            locks: self.locks.layer(self.options.retry),
            options: Arc::clone(&self.options),
            releases: self.releases.clone(),
        })
    }

    fn doors(&self) -> Arc<dyn Doors> {
        Arc::clone(&self.worker) as Arc<dyn Doors>
    }

    fn refresher(&self, inner: Arc<dyn DefinitionsRefresher>) -> Arc<dyn DefinitionsRefresher> {
        Arc::new(DistributedDefinitionsRefresher {
            locks: self.locks.clone(),
            options: Arc::clone(&self.options),
            releases: self.releases.clone(),
            inner,
        })
    }

    fn reloader(&self, inner: Arc<dyn DefinitionsReloader>) -> Arc<dyn DefinitionsReloader> {
        Arc::new(DistributedDefinitionsReloader {
            locks: self.locks.clone(),
            options: Arc::clone(&self.options),
            releases: self.releases.clone(),
            inner,
        })
    }

    fn hold(&self) -> Duration {
        self.options.lease
    }

    fn start<'a>(&'a self, store: &'a dyn Store) -> Answer<'a, ()> {
        Box::pin(self.begin(store))
    }

    fn check<'a>(&'a self, node: &'a str) -> Answer<'a, ()> {
        Box::pin(self.presence.keep(&self.locks, &self.options, node))
    }
}
