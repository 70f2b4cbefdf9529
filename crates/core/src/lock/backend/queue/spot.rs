//! Where a line is: which queue, and which lock.

use super::{Inner, Seat, line::Line};
use crate::lock::{
    LockId,
    backend::{Backend, Owned},
};
use std::{
    fmt,
    sync::{Arc, atomic::Ordering},
};

/// One lock of one queue. It travels with whoever has to do with that lock's line.
pub(super) struct Spot<B: Backend> {
    pub(super) queue: Arc<Inner<B>>,
    pub(super) id: LockId,
}

impl<B: Backend> Spot<B> {
    /// Does something with the line, making one if there is none.
    pub(super) fn join<T>(&self, work: impl FnOnce(&mut Line<B>) -> T) -> T {
        self.queue.lines.join(&self.id, work)
    }

    /// Does something with the line if there is one.
    pub(super) fn visit<T>(&self, work: impl FnOnce(&mut Line<B>) -> T) -> Option<T> {
        self.queue.lines.visit(&self.id, work)
    }

    /// Counts somebody who waits, here or at the server, until dropped.
    pub(super) fn count_waiting(&self) -> Waits<B> {
        self.queue.waiting.fetch_add(1, Ordering::Relaxed);
        Waits(self.queue.clone())
    }

    /// Whether anybody waits in any line. Somebody who is just joining one may be overlooked;
    /// then nothing is passed on, and the server is asked as usual.
    pub(super) fn anybody_waits(&self) -> bool {
        self.queue.waiting.load(Ordering::Relaxed) > 0
    }

    /// Puts a seat where its drop gives it back.
    pub(super) fn own(&self, seat: Seat<B>) -> Owned<Seat<B>> {
        Owned::new(seat, self.queue.releases.clone())
    }
}

/// Somebody waits for as long as this exists.
pub(super) struct Waits<B: Backend>(Arc<Inner<B>>);

impl<B: Backend> Drop for Waits<B> {
    fn drop(&mut self) {
        self.0.waiting.fetch_sub(1, Ordering::Relaxed);
    }
}

impl<B: Backend> fmt::Debug for Waits<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Waits")
    }
}

impl<B: Backend> Clone for Spot<B> {
    fn clone(&self) -> Self {
        Self {
            queue: self.queue.clone(),
            id: self.id.clone(),
        }
    }
}

impl<B: Backend> fmt::Debug for Spot<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.id.fmt(f)
    }
}
