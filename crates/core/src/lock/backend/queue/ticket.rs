//! A place in line, and the turn that comes to it.

use super::{
    Inner,
    ask::{Ask, Interrupt},
    seat::Seat,
};
use crate::lock::{
    Deadline, LockId, Mode, Request,
    backend::{Backend, Owned},
};
use std::{fmt, sync::Arc, time::Duration};
use tokio::sync::oneshot;

/// What a request wants of a grant. Equal wishes may share or inherit one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Wish {
    pub(super) mode: Mode,
    lease: Option<Duration>,
    renew: bool,
}

impl Wish {
    pub(super) const fn of(request: &Request) -> Self {
        Self {
            mode: request.mode,
            lease: request.lease,
            renew: request.renew,
        }
    }
}

/// Where in the line. Numbers are never used twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Place {
    /// Called back from the server for an upgrade: before everybody else.
    Recalled(u64),
    /// In the order of arrival.
    InTurn(u64),
}

/// What a waiter gets when its turn comes. Either, dropped unread, goes to the next one.
pub(super) enum Turn<B: Backend> {
    /// The lock itself.
    Seat(Owned<Seat<B>>),
    /// The right to ask the server.
    Ask(Ask<B>),
}

/// Who takes over from somebody who leaves.
pub(super) enum Heir<B: Backend> {
    /// The first in line.
    Waiting(Waiter<B>),
    /// The one who asks the server.
    Asking(oneshot::Sender<Interrupt<B>>),
}

impl<B: Backend> Heir<B> {
    /// Hands the seat over; gives it back if the heir has left.
    pub(super) fn send(self, seat: Owned<Seat<B>>) -> Result<(), Owned<Seat<B>>> {
        match self {
            Self::Waiting(waiter) => match waiter.send(Turn::Seat(seat)) {
                Err(Turn::Seat(seat)) => Err(seat),
                Err(Turn::Ask(_)) => unreachable!("what was refused is what was sent"),
                Ok(()) => Ok(()),
            },
            Self::Asking(asking) => match asking.send(Interrupt::Take(seat)) {
                Err(Interrupt::Take(seat)) => Err(seat),
                Err(Interrupt::GoBack) => unreachable!("what was refused is what was sent"),
                Ok(()) => Ok(()),
            },
        }
    }
}

/// The line's half of a place in it.
pub(super) struct Waiter<B: Backend> {
    pub(super) wish: Wish,
    turn: oneshot::Sender<Turn<B>>,
}

impl<B: Backend> Waiter<B> {
    /// Gives the turn; gives it back if the waiter has left.
    pub(super) fn send(self, turn: Turn<B>) -> Result<(), Turn<B>> {
        self.turn.send(turn)
    }
}

/// The waiter's half. Dropped, it leaves the line.
pub(super) struct Ticket<B: Backend> {
    queue: Arc<Inner<B>>,
    id: LockId,
    place: Place,
    turn: oneshot::Receiver<Turn<B>>,
}

impl<B: Backend> Ticket<B> {
    pub(super) fn new(
        queue: Arc<Inner<B>>,
        id: LockId,
        wish: Wish,
        place: Place,
    ) -> (Waiter<B>, Self) {
        let (sender, receiver) = oneshot::channel();
        (
            Waiter { wish, turn: sender },
            Self {
                queue,
                id,
                place,
                turn: receiver,
            },
        )
    }

    /// Waits for the turn; `None` when the deadline passed first.
    pub(super) async fn turn(mut self, deadline: Deadline) -> Option<Turn<B>> {
        if let Some(turn) = deadline.wait_for(&mut self.turn).await {
            return turn.ok();
        }
        if self.leave() {
            return None;
        }
        // Its turn came in the same moment and is on its way: there is no time to wait, but the
        // lock may be there for the taking.
        (&mut self.turn).await.ok()
    }

    fn leave(&self) -> bool {
        self.queue
            .lines
            .visit(&self.id, |line| line.leave_queue(self.place))
            .unwrap_or(false)
    }
}

impl<B: Backend> Drop for Ticket<B> {
    fn drop(&mut self) {
        // The one behind may be able to go where this one could not: a reader behind a writer.
        if self.leave() {
            self.queue.advance(&self.id);
        }
    }
}

impl<B: Backend> fmt::Debug for Ticket<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Ticket({:?} for {})", self.place, self.id)
    }
}
