//! A table of what is known about each lock, for as long as there is anything to know.

use super::{LockId, id::ByName};
use std::{
    collections::HashMap,
    hash::BuildHasher,
    sync::{Mutex, MutexGuard, PoisonError},
};

/// What is known about one lock.
pub(super) trait Record: Default {
    /// Whether there is nothing left to know, so that the record can go.
    fn is_over(&self) -> bool;
}

/// Many small tables under many locks, so that tasks with different names seldom meet. A name
/// used once leaves nothing behind.
#[derive(Debug)]
pub(super) struct Table<R> {
    shards: Box<[Shard<R>]>,
}

type Records<R> = HashMap<LockId, R, ByName>;
type Shard<R> = Mutex<Records<R>>;

const SHARDS: usize = 32;

impl<R: Record> Table<R> {
    /// How many records there are.
    pub(super) fn len(&self) -> usize {
        self.shards.iter().map(|shard| lock(shard).len()).sum()
    }

    /// Does something with the record of `id`, making one if there is none. The record stays,
    /// whatever is done; so `work` must leave it not over, or let a visit follow.
    pub(super) fn join<T>(&self, id: &LockId, work: impl FnOnce(&mut R) -> T) -> T {
        // Mostly there is none.
        work(lock(self.shard(id)).entry(id.clone()).or_default())
    }

    /// Does something with the record of `id` if there is one, and removes it if that ended it.
    pub(super) fn visit<T>(&self, id: &LockId, work: impl FnOnce(&mut R) -> T) -> Option<T> {
        let mut records = lock(self.shard(id));
        let record = records.get_mut(id)?;
        let result = work(record);
        if record.is_over() {
            records.remove(id);
        }
        Some(result)
    }

    /// The ids of all records.
    pub(super) fn ids(&self) -> Vec<LockId> {
        let ids = |shard| lock(shard).keys().cloned().collect::<Vec<_>>();
        self.shards.iter().flat_map(ids).collect()
    }

    fn shard(&self, id: &LockId) -> &Shard<R> {
        // Other bits than those the table within goes by.
        let hash = ByName.hash_one(id);
        &self.shards[(hash >> 32) as usize % SHARDS]
    }
}

impl<R> Default for Table<R> {
    fn default() -> Self {
        Self {
            shards: (0..SHARDS).map(|_| Mutex::default()).collect(),
        }
    }
}

fn lock<R>(shard: &Shard<R>) -> MutexGuard<'_, Records<R>> {
    // Records change in single steps that do not panic: what a panic elsewhere left is whole.
    shard.lock().unwrap_or_else(PoisonError::into_inner)
}
