//! Work that runs to its end even if its caller stops waiting.
//!
//! An attempt that was cut off half way may have been granted without anyone knowing; a release
//! that was cut off half way may never arrive. A shielded one always learns its outcome.

use super::keeper;
use std::{
    fmt,
    future::Future,
    pin::Pin,
    task::{Context, Poll},
};

/// A future that, once begun, runs to its end: in its caller for as long as that waits, and on
/// the [keeper thread](keeper) from the moment it is dropped.
///
/// What it yields there is dropped, so it must be something whose drop does the right thing, such
/// as [`Owned`](super::Owned). A shield that was never polled is dropped without having begun.
///
/// This costs no task and no thread hop while the caller stays.
pub struct Shield<T: Send + 'static> {
    /// `None` once it is over.
    work: Option<Work<T>>,
    begun: bool,
    quiet: bool,
}

type Work<T> = Pin<Box<dyn Future<Output = T> + Send>>;

impl<T: Send + 'static> Shield<T> {
    /// Shields `work`.
    pub fn new(work: impl Future<Output = T> + Send + 'static) -> Self {
        Self::of(work, false)
    }

    /// The same; of `quiet` work, for less: see [`Hold::QUIET`](super::Hold::QUIET).
    pub(super) fn of(work: impl Future<Output = T> + Send + 'static, quiet: bool) -> Self {
        Self {
            work: Some(Box::pin(work)),
            begun: false,
            quiet,
        }
    }
}

impl<T: Send + 'static> Future for Shield<T> {
    type Output = T;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<T> {
        // Taken out while it runs, so that work that panics is not begun again on the keeper.
        let Some(mut work) = self.work.take() else {
            panic!("a shield was polled after its end")
        };
        // Timers and sockets the work opens belong to the keeper: the caller's runtime may end
        // before the work does.
        let _keeper = match self.quiet {
            true => None,
            false => keeper::enter_for_caller(),
        };
        let polled = work.as_mut().poll(cx);
        if polled.is_pending() {
            self.begun = true;
            self.work = Some(work);
        }
        polled
    }
}

impl<T: Send + 'static> Drop for Shield<T> {
    fn drop(&mut self) {
        if let Some(work) = self.work.take_if(|_| self.begun) {
            keeper::spawn(async move {
                drop(work.await);
            });
        }
    }
}

impl<T: Send + 'static> fmt::Debug for Shield<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match (&self.work, self.begun) {
            (Some(_), false) => "Shield(new)",
            (Some(_), true) => "Shield(begun)",
            (None, _) => "Shield(over)",
        })
    }
}
