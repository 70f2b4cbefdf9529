//! What the proxy does to the bytes at the moment, and how its connections learn of a change.

use std::time::Duration;
use tokio::sync::watch;

/// The state of the network.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Wind {
    pub(super) delay: Duration,
    /// Nothing passes.
    pub(super) silent: bool,
    /// No answer passes.
    pub(super) deaf: bool,
    /// Notifications do not pass.
    pub(super) untold: bool,
    /// How often all connections were reset.
    pub(super) storms: u64,
    /// The proxy is gone.
    pub(super) over: bool,
}

/// The state, for those who change it and those who watch.
#[derive(Debug)]
pub(super) struct Weather(watch::Sender<Wind>);

impl Weather {
    pub(super) fn new() -> Self {
        Self(watch::Sender::new(Wind::default()))
    }

    pub(super) fn change(&self, how: impl FnOnce(&mut Wind)) {
        self.0.send_modify(how);
    }

    pub(super) fn watch(&self) -> watch::Receiver<Wind> {
        self.0.subscribe()
    }
}
