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
pub struct Shield<T: Send + 'static>(State<T>);

type Work<T> = Pin<Box<dyn Future<Output = T> + Send>>;

enum State<T> {
    New(Work<T>),
    Begun(Work<T>),
    Over,
}

impl<T: Send + 'static> Shield<T> {
    /// Shields `work`.
    pub fn new(work: impl Future<Output = T> + Send + 'static) -> Self {
        Self(State::New(Box::pin(work)))
    }
}

impl<T: Send + 'static> Future for Shield<T> {
    type Output = T;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<T> {
        // Taken out while it runs, so that work that panics is not begun again on the keeper.
        let mut work = match std::mem::replace(&mut self.0, State::Over) {
            State::New(work) | State::Begun(work) => work,
            State::Over => panic!("a shield was polled after its end"),
        };
        // Timers and sockets the work opens belong to the keeper: the caller's runtime may end
        // before the work does.
        let _keeper = keeper::enter_for_caller();
        let polled = work.as_mut().poll(cx);
        if polled.is_pending() {
            self.0 = State::Begun(work);
        }
        polled
    }
}

impl<T: Send + 'static> Drop for Shield<T> {
    fn drop(&mut self) {
        if let State::Begun(work) = std::mem::replace(&mut self.0, State::Over) {
            keeper::spawn(async move {
                drop(work.await);
            });
        }
    }
}

impl<T: Send + 'static> fmt::Debug for Shield<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.0 {
            State::New(_) => "Shield(new)",
            State::Begun(_) => "Shield(begun)",
            State::Over => "Shield(over)",
        })
    }
}
