//! What can be made to go wrong.

use std::{
    sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering},
    time::Duration,
};
use tokio::sync::watch;

#[derive(Debug)]
pub(super) struct Faults {
    delay_micros: AtomicU64,
    replies_to_drop: AtomicUsize,
    muted: AtomicBool,
    paused: watch::Sender<bool>,
}

impl Faults {
    pub(super) fn none() -> Self {
        Self {
            delay_micros: AtomicU64::new(0),
            replies_to_drop: AtomicUsize::new(0),
            muted: AtomicBool::new(false),
            paused: watch::Sender::new(false),
        }
    }

    pub(super) fn set_delay(&self, delay: Duration) {
        let micros = u64::try_from(delay.as_micros()).unwrap_or(u64::MAX);
        self.delay_micros.store(micros, Ordering::Relaxed);
    }

    pub(super) fn delay(&self) -> Duration {
        Duration::from_micros(self.delay_micros.load(Ordering::Relaxed))
    }

    pub(super) fn drop_replies(&self, count: usize) {
        self.replies_to_drop.store(count, Ordering::SeqCst);
    }

    /// Whether the reply that is about to be sent is one of those to drop.
    pub(super) fn drops_this_reply(&self) -> bool {
        self.replies_to_drop
            .fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| {
                left.checked_sub(1)
            })
            .is_ok()
    }

    pub(super) fn mute(&self, muted: bool) {
        self.muted.store(muted, Ordering::Relaxed);
    }

    pub(super) fn is_muted(&self) -> bool {
        self.muted.load(Ordering::Relaxed)
    }

    pub(super) fn pause(&self, paused: bool) {
        self.paused.send_replace(paused);
    }

    /// Waits until the server is not paused.
    pub(super) async fn unpaused(&self) {
        // An error says that the sender is gone; it is right here.
        let _ = self.paused.subscribe().wait_for(|paused| !paused).await;
    }
}
