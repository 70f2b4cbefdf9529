//! Wake-ups from a server, by lock.
//!
//! A hint says "ask again now" and nothing more: correctness rests on the next try, liveness on
//! the waiter's own timer. So a hint may be late, doubled, wrong or missing.

use crate::lock::LockId;
use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};
use tokio::sync::watch;

/// Who listens for which lock. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub struct Hints {
    channels: Arc<Mutex<HashMap<LockId, watch::Sender<()>>>>,
}

impl Hints {
    /// Nobody listens yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Listens for hints about `id`. Begin before the first try, so that none falls between.
    #[must_use]
    pub fn listen(&self, id: &LockId) -> Listener {
        let mut channels = self.channels();
        let hinted = match channels.get(id) {
            Some(channel) => channel.subscribe(),
            None => channels
                .entry(id.clone())
                .or_insert_with(|| watch::channel(()).0)
                .subscribe(),
        };
        drop(channels);
        Listener {
            hints: self.clone(),
            id: id.clone(),
            hinted: Some(hinted),
        }
    }

    /// Passes a hint on to everybody who listens for `id`; `false` if nobody does.
    pub fn hint(&self, id: &LockId) -> bool {
        // Not under the lock: whoever is woken needs it to stop listening.
        let channel = self.channels().get(id).cloned();
        channel.is_some_and(|channel| channel.send(()).is_ok())
    }

    /// Wakes everybody: hints may have been missed, after a reconnect say.
    pub fn hint_all(&self) {
        let all: Vec<_> = self.channels().values().cloned().collect();
        for channel in all {
            channel.send_replace(());
        }
    }

    /// Every lock somebody listens for.
    #[must_use]
    pub fn listened(&self) -> Vec<LockId> {
        self.channels().keys().cloned().collect()
    }

    fn channels(&self) -> MutexGuard<'_, HashMap<LockId, watch::Sender<()>>> {
        // No code that can panic runs under this lock.
        self.channels.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Hears the hints about one lock, until dropped.
#[derive(Debug)]
pub struct Listener {
    hints: Hints,
    id: LockId,
    /// `None` only while dropping.
    hinted: Option<watch::Receiver<()>>,
}

impl Listener {
    /// Waits for a hint. One that came since the last call counts.
    ///
    /// # Cancel safety
    /// A hint is not lost when this is dropped before it resolved.
    pub async fn hinted(&mut self) {
        let Some(hinted) = &mut self.hinted else {
            return;
        };
        if hinted.changed().await.is_err() {
            // The sender lives in the table for as long as anybody listens.
            std::future::pending::<()>().await;
        }
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        let mut channels = self.hints.channels();
        self.hinted = None;
        if channels
            .get(&self.id)
            .is_some_and(|channel| channel.receiver_count() == 0)
        {
            channels.remove(&self.id);
        }
    }
}
