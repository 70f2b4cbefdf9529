//! What the proxy does to the bytes at the moment, and how its connections learn of a change.

use super::cut::Cuts;
use std::{
    sync::atomic::{AtomicUsize, Ordering::SeqCst},
    time::Duration,
};
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
pub(super) struct Weather {
    wind: watch::Sender<Wind>,
    /// How many answers are still to be lost, each with its connection.
    pub(super) to_lose: AtomicUsize,
    /// Which statements are cut off.
    pub(super) cuts: Cuts,
}

impl Weather {
    pub(super) fn new() -> Self {
        Self {
            wind: watch::Sender::new(Wind::default()),
            to_lose: AtomicUsize::new(0),
            cuts: Cuts::default(),
        }
    }

    pub(super) fn change(&self, how: impl FnOnce(&mut Wind)) {
        self.wind.send_modify(how);
    }

    pub(super) fn watch(&self) -> watch::Receiver<Wind> {
        self.wind.subscribe()
    }

    /// Whether this answer is one of those to be lost.
    pub(super) fn loses_one(&self) -> bool {
        let one_less = |left: usize| left.checked_sub(1);
        self.to_lose.fetch_update(SeqCst, SeqCst, one_less).is_ok()
    }
}
