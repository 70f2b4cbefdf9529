//! Bells: whoever waits for work hears that there may be some.

use std::sync::Arc;
use tokio::sync::Notify;

/// Rings for whoever looks for errands, and for whoever looks for jobs. Rings that nobody has heard yet are one.
#[derive(Clone, Debug, Default)]
pub(crate) struct Signal {
    errands: Arc<Notify>,
    jobs: Arc<Notify>,
}

impl Signal {
    pub(crate) fn ring(&self) {
        self.errands.notify_one();
        self.jobs.notify_one();
    }

    /// Somebody rang, and there may be errands.
    pub(crate) async fn errands(&self) {
        self.errands.notified().await;
    }

    /// Somebody rang, and there may be jobs.
    pub(crate) async fn jobs(&self) {
        self.jobs.notified().await;
    }
}
