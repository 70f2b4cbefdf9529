//! Giving locks back. That this fails is told and counted, and nobody has to handle it: such a lock ends with its lease or
//! its session.

use lockwork_core::lock::{ErrorKind, Guard};
use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};
use tokio::runtime::Handle;
use tokio_util::task::TaskTracker;

/// Gives locks back, and counts how often that failed.
#[derive(Clone, Debug, Default)]
pub(crate) struct Releases {
    failed: Arc<AtomicU64>,
    under_way: TaskTracker,
}

impl Releases {
    /// Counted together with these, and waited for apart.
    pub(crate) fn apart(&self) -> Self {
        Self {
            failed: Arc::clone(&self.failed),
            under_way: TaskTracker::new(),
        }
    }

    pub(crate) fn failed(&self) -> u64 {
        self.failed.load(Ordering::Relaxed)
    }

    /// Gives one back in the background.
    pub(crate) fn give_back(&self, guard: Guard) {
        let Ok(runtime) = Handle::try_current() else {
            // The runtime is gone, and nobody is left to be told. Dropped, the guard gives itself back.
            return;
        };
        let releases = self.clone();
        let giving = async move { releases.now(guard).await };
        self.under_way.spawn_on(giving, &runtime);
    }

    /// Gives one back, and waits for it.
    pub(crate) async fn now(&self, guard: Guard) {
        let name = guard.name().clone();
        match guard.release().await {
            Ok(()) => {}
            // There is nothing to give back, and whoever worked under it was told.
            Err(error) if error.kind() == ErrorKind::Lost => {
                tracing::debug!(lock = %name, %error, "a lock had been lost before it was given back");
            }
            Err(error) => {
                self.failed.fetch_add(1, Ordering::Relaxed);
                tracing::warn!(lock = %name, %error, "a lock could not be given back: it ends by itself");
            }
        }
    }

    /// Ends when none is under way.
    pub(crate) async fn settled(&self) {
        self.under_way.close();
        self.under_way.wait().await;
    }
}
