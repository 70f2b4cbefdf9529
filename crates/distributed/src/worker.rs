//! Who looks for errands: one node at a time in each part.

use crate::{error::of_lock, options::DistributedOptions, releases::Releases};
use futures_util::future::join_all;
use lockwork_core::{
    lock::{Guard, Locks},
    workflow::{Answer, Result},
};
use lockwork_runtime::{Doors, Entered, store::Parts};
use std::sync::{
    Arc,
    atomic::{AtomicU32, Ordering},
};

const KEY: &str = "DistributedBookmarkQueueWorker";

/// Lets a node look for errands where no other one does.
///
/// It asks for the lock of each part without waiting: `DistributedBookmarkQueueWorker`, if there is one part, and
/// `DistributedBookmarkQueueWorker:{i}` otherwise. A part in which another node looks is left out, which is told at
/// `info`, and the node looks again a moment later: what was added meanwhile may have been told to it alone.
///
/// The locks are held while errands are handed out and not while they are done: each errand that is handed out is held by
/// its node, so a long one keeps nobody from the others. That is also why nothing goes wrong without these locks.
#[derive(Debug)]
pub struct DistributedBookmarkQueueWorker {
    locks: Locks,
    options: Arc<DistributedOptions>,
    /// Of the locks of parts alone.
    releases: Releases,
    parts: AtomicU32,
}

impl DistributedBookmarkQueueWorker {
    pub(crate) fn new(locks: Locks, options: Arc<DistributedOptions>, releases: &Releases) -> Self {
        Self {
            parts: AtomicU32::new(options.parts.max(1)),
            releases: releases.apart(),
            locks,
            options,
        }
    }

    /// Ends when the locks of the last look were given back.
    pub(crate) async fn left(&self) {
        self.releases.settled().await;
    }

    /// There are so many parts, as the store has it.
    pub(crate) fn divide(&self, parts: u32) {
        self.parts.store(parts.max(1), Ordering::Relaxed);
    }

    async fn try_all(&self) -> Result<Entered> {
        // Otherwise this node would be turned away by itself.
        self.left().await;
        let of = self.parts.load(Ordering::Relaxed);
        let tried = join_all((0..of).map(|part| self.try_one(part, of))).await;
        let (mut numbers, mut guards, mut failed) = (Vec::new(), Vec::new(), None);
        for (part, tried) in (0..of).zip(tried) {
            match tried {
                Ok(Some(guard)) => {
                    numbers.push(part);
                    guards.push(guard);
                }
                Ok(None) => {
                    tracing::info!(part, of, "another node looks for errands there: skipped");
                }
                Err(error) => failed = Some(error),
            }
        }
        match failed {
            Some(error) if numbers.is_empty() => Err(error),
            _ => {
                let inside = Inside(guards, self.releases.clone());
                Ok(Entered::new(Parts::new(of, numbers), inside))
            }
        }
    }

    async fn try_one(&self, part: u32, of: u32) -> Result<Option<Guard>> {
        let key = key(part, of);
        let options = self.options.at_once();
        let tried = self.locks.mutex(&key).lock_with(options).await;
        tried.map_err(|error| of_lock(error, &key))
    }
}

fn key(part: u32, of: u32) -> String {
    match of {
        1 => KEY.to_owned(),
        _ => format!("{KEY}:{part}"),
    }
}

impl Doors for DistributedBookmarkQueueWorker {
    fn enter(&self) -> Answer<'_, Entered> {
        Box::pin(self.try_all())
    }
}

/// The locks of parts, given back when dropped.
struct Inside(Vec<Guard>, Releases);

impl Drop for Inside {
    fn drop(&mut self) {
        let Self(guards, releases) = self;
        guards.drain(..).for_each(|guard| releases.give_back(guard));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_part_has_the_plain_key_and_several_are_numbered() {
        assert_eq!(key(0, 1), "DistributedBookmarkQueueWorker");
        assert_eq!(key(3, 4), "DistributedBookmarkQueueWorker:3");
    }
}
