//! A bell: whoever waits for work hears that there may be some.

use std::sync::Arc;
use tokio::sync::watch;

/// Rings for everybody who listens.
#[derive(Clone, Debug, Default)]
pub(crate) struct Signal(Arc<watch::Sender<()>>);

/// Somebody who listens. What rang while they did not is heard once.
#[derive(Debug)]
pub(crate) struct Listener(watch::Receiver<()>);

impl Signal {
    pub(crate) fn ring(&self) {
        self.0.send_replace(());
    }

    pub(crate) fn listen(&self) -> Listener {
        Listener(self.0.subscribe())
    }
}

impl Listener {
    /// Never, once nobody can ring any more.
    pub(crate) async fn heard(&mut self) {
        if self.0.changed().await.is_err() {
            std::future::pending().await
        }
    }
}
