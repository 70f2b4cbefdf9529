//! A bell: whoever waits for work hears that there may be some.

use std::sync::Arc;
use tokio::sync::Notify;

/// Rings for whoever listens. Rings that nobody has heard yet are one.
#[derive(Clone, Debug, Default)]
pub(crate) struct Signal(Arc<Notify>);

impl Signal {
    pub(crate) fn ring(&self) {
        self.0.notify_one();
    }

    pub(crate) async fn heard(&self) {
        self.0.notified().await;
    }
}
