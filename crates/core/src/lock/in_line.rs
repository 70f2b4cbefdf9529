//! Waiting in somebody's line for a turn.

use super::Deadline;
use tokio::sync::oneshot;

/// A place in a line that can be given up.
pub(super) trait Leave {
    /// Takes this place out of the line and lets those behind it go on; `false` if its turn has
    /// come already.
    fn leave(&self) -> bool;
}

/// Somebody who waits for a turn. Dropped, it gives its place up; a turn that came unread is
/// dropped with it, so a turn must be something whose drop passes it on.
#[derive(Debug)]
pub(super) struct InLine<P: Leave, T> {
    place: P,
    turn: oneshot::Receiver<T>,
}

impl<P: Leave + Send + Sync, T: Send> InLine<P, T> {
    pub(super) const fn new(place: P, turn: oneshot::Receiver<T>) -> Self {
        Self { place, turn }
    }

    /// Waits for the turn; `None` when the deadline passed first.
    pub(super) async fn turn(mut self, deadline: Deadline) -> Option<T> {
        if let Some(turn) = deadline.wait_for(&mut self.turn).await {
            return turn.ok();
        }
        if self.place.leave() {
            return None;
        }
        // Its turn came in the same moment and is on its way: there is no time to wait, but the
        // lock may be there for the taking.
        (&mut self.turn).await.ok()
    }
}

impl<P: Leave, T> Drop for InLine<P, T> {
    fn drop(&mut self) {
        self.place.leave();
    }
}
