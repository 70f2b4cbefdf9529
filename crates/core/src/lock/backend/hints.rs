//! Wake-ups from a server, by lock.
//!
//! A hint says "ask again now" and nothing more: correctness rests on the next try, liveness on
//! the waiter's own timer. So a hint may be late, doubled, wrong or missing.

use crate::lock::{LockId, id::ByName};
use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};
use tokio::sync::watch;

/// Who listens for which lock. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub struct Hints(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    /// How many hints there were. Raised under the lock of the table only.
    count: AtomicU64,
    table: Mutex<Table>,
}

#[derive(Debug, Default)]
struct Table {
    /// For each lock somebody listens for, its last hint.
    channels: HashMap<LockId, watch::Sender<u64>, ByName>,
    /// The last hint for which nobody listened, or listens any more.
    unheard: u64,
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
        let mut listener = self.listen_later(id);
        listener.hinted = Some(listener.subscribe().0);
        listener
    }

    /// The same at less cost, for those who mostly need not wait: it listens when it is first waited
    /// for. Hints that came since this was called count, and perhaps one about another lock.
    #[must_use]
    pub fn listen_later(&self, id: &LockId) -> Listener {
        Listener {
            hints: self.clone(),
            id: id.clone(),
            since: self.0.count.load(Ordering::Acquire),
            hinted: None,
        }
    }

    /// Passes a hint on to everybody who listens for `id`; `false` if nobody does.
    pub fn hint(&self, id: &LockId) -> bool {
        let mut table = self.table();
        let number = self.next_number();
        let Some(channel) = table.channels.get(id).cloned() else {
            table.unheard = number;
            return false;
        };
        note(&channel, number);
        drop(table);
        wake(&channel);
        true
    }

    /// Wakes everybody: hints may have been missed, after a reconnect say.
    pub fn hint_all(&self) {
        let mut table = self.table();
        let number = self.next_number();
        table.unheard = number;
        let all: Vec<_> = table.channels.values().cloned().collect();
        for channel in &all {
            note(channel, number);
        }
        drop(table);
        for channel in &all {
            wake(channel);
        }
    }

    /// Every lock somebody listens for.
    #[must_use]
    pub fn listened(&self) -> Vec<LockId> {
        self.table().channels.keys().cloned().collect()
    }

    /// The number of one more hint. Called under the lock.
    fn next_number(&self) -> u64 {
        self.0.count.fetch_add(1, Ordering::Release) + 1
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        // No code that can panic runs under this lock.
        self.0.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Notes a hint, under the lock: whoever begins to listen from now on sees it.
fn note(channel: &watch::Sender<u64>, number: u64) {
    channel.send_if_modified(|last| {
        *last = number;
        false
    });
}

/// Wakes those who listen. Not under the lock: whoever is woken needs it to stop listening.
fn wake(channel: &watch::Sender<u64>) {
    channel.send_modify(|_| {});
}

/// Hears the hints about one lock, until dropped.
#[derive(Debug)]
pub struct Listener {
    hints: Hints,
    id: LockId,
    /// How many hints there were when this was made.
    since: u64,
    /// `None` before it listens, and while dropping.
    hinted: Option<watch::Receiver<u64>>,
}

impl Listener {
    /// Waits for a hint. One that came since the last call counts.
    ///
    /// # Cancel safety
    /// A hint is not lost when this is dropped before it resolved.
    pub async fn hinted(&mut self) {
        if self.hinted.is_none() {
            let (hinted, missed) = self.subscribe();
            self.hinted = Some(hinted);
            if missed {
                return;
            }
        }
        if let Some(hinted) = &mut self.hinted
            && hinted.changed().await.is_err()
        {
            // The sender lives in the table for as long as anybody listens.
            std::future::pending::<()>().await;
        }
    }

    /// Begins to listen; and whether there may have been a hint since this was made.
    fn subscribe(&self) -> (watch::Receiver<u64>, bool) {
        let mut table = self.hints.table();
        let unheard = table.unheard;
        let hinted = match table.channels.get(&self.id) {
            Some(channel) => channel.subscribe(),
            None => table
                .channels
                .entry(self.id.clone())
                .or_insert_with(|| watch::channel(0).0)
                .subscribe(),
        };
        let last = unheard.max(*hinted.borrow());
        (hinted, last > self.since)
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        if self.hinted.is_none() {
            return;
        }
        let mut table = self.hints.table();
        self.hinted = None;
        let Some(channel) = table.channels.get(&self.id) else {
            return;
        };
        if channel.receiver_count() == 0 {
            // It may not have been woken for its last hint yet; others may wait for that.
            let last = *channel.borrow();
            table.channels.remove(&self.id);
            table.unheard = table.unheard.max(last);
        }
    }
}
