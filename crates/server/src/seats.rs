//! Which connections are open, and which of them can be closed for others: those that ask for nothing.

use crate::state::Node;
use axum::{
    body::{Body, Bytes},
    response::Response,
};
use hyper::body::{Body as Frames, Frame, SizeHint};
use std::{
    collections::VecDeque,
    pin::Pin,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{
            AtomicBool, AtomicUsize,
            Ordering::{Relaxed, SeqCst},
        },
    },
    task::{Context, Poll},
};
use tokio_util::sync::CancellationToken;

/// All connections, the oldest first.
#[derive(Debug, Default)]
pub(crate) struct Seats(Mutex<VecDeque<Arc<Seat>>>);

/// One connection.
#[derive(Debug, Default)]
pub(crate) struct Seat {
    /// How many requests of it are under way, from when they have come whole until all of the answer was given.
    asking: AtomicUsize,
    /// Whether some of an answer is still to be sent.
    sending: AtomicBool,
    /// That it is wanted by somebody else.
    pub(crate) given_up: CancellationToken,
}

impl Seat {
    /// Whether nothing is done for it: it says nothing, or has not said all of what it wants.
    fn is_idle(&self) -> bool {
        self.asking.load(SeqCst) == 0 && !self.sending.load(SeqCst)
    }

    /// All that it was given is sent.
    pub(crate) fn sent(&self) {
        self.sending.store(false, SeqCst);
    }
}

impl Seats {
    /// A seat for one more. If there are too many, the oldest that asks for nothing loses its own: whoever opens many
    /// connections and says nothing closes its own in the end, and keeps nobody out.
    fn take(&self, most: usize) -> Arc<Seat> {
        let seat = Arc::new(Seat::default());
        let mut seats = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if seats.len() >= most {
            let idle = seats.iter().position(|seat| seat.is_idle());
            if let Some(idle) = idle.and_then(|at| seats.remove(at)) {
                idle.given_up.cancel();
            }
        }
        seats.push_back(Arc::clone(&seat));
        seat
    }

    fn leave(&self, seat: &Arc<Seat>) {
        let mut seats = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        seats.retain(|one| !Arc::ptr_eq(one, seat));
    }
}

/// A connection that is counted. Dropped, however its task ends, it is not any more.
#[derive(Debug)]
pub(crate) struct Seated {
    seats: Arc<Seats>,
    pub(crate) seat: Arc<Seat>,
    node: Node,
}

impl Seated {
    pub(crate) fn new(seats: &Arc<Seats>, node: &Node) -> Self {
        node.counts.connections.fetch_add(1, Relaxed);
        Self {
            seat: seats.take(node.limits.connections),
            seats: Arc::clone(seats),
            node: Arc::clone(node),
        }
    }
}

impl Drop for Seated {
    fn drop(&mut self) {
        self.seats.leave(&self.seat);
        self.node.counts.connections.fetch_sub(1, Relaxed);
    }
}

/// A request under way.
#[derive(Debug)]
pub(crate) struct Asking(Arc<Seat>);

impl Asking {
    pub(crate) fn new(seat: &Arc<Seat>) -> Self {
        seat.asking.fetch_add(1, SeqCst);
        Self(Arc::clone(seat))
    }

    /// It is under way until all of the answer was given.
    pub(crate) fn until_given(self, response: Response) -> Response {
        response.map(|body| {
            Body::new(Given {
                body,
                _asking: self,
            })
        })
    }
}

impl Drop for Asking {
    fn drop(&mut self) {
        // In this order: there is no moment at which it seems idle.
        self.0.sending.store(true, SeqCst);
        self.0.asking.fetch_sub(1, SeqCst);
    }
}

/// The body of an answer, and that its request is under way.
struct Given {
    body: Body,
    _asking: Asking,
}

impl Frames for Given {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_that_asks_for_nothing_loses_its_seat() {
        let seats = Seats::default();
        let (first, second) = (seats.take(2), seats.take(2));
        let asking = Asking::new(&first);
        let third = seats.take(2);
        assert!(!first.given_up.is_cancelled(), "it is being answered");
        assert!(second.given_up.is_cancelled());
        drop(asking);
        seats.leave(&third);
        let _fourth = seats.take(2);
        assert!(!first.given_up.is_cancelled(), "there was room");
    }

    #[test]
    fn who_was_given_an_answer_keeps_its_seat_until_it_is_sent() {
        let seats = Seats::default();
        let first = seats.take(1);
        drop(Asking::new(&first));
        seats.take(1);
        assert!(!first.given_up.is_cancelled(), "its answer is on the way");
        first.sent();
        seats.take(1);
        assert!(first.given_up.is_cancelled());
    }
}
