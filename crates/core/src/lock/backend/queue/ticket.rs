//! A place in line, and the turn that comes to it.

use super::{
    ask::{Ask, Interrupt},
    seat::Seat,
    spot::{Spot, Waits},
};
use crate::lock::{
    Mode, Request,
    backend::{Backend, Owned},
    in_line::{InLine, Leave},
};
use std::time::Duration;
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
#[derive(Debug)]
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
    pub(super) fn new(wish: Wish) -> (Self, oneshot::Receiver<Turn<B>>) {
        let (sender, receiver) = oneshot::channel();
        (Self { wish, turn: sender }, receiver)
    }

    /// Gives the turn; gives it back if the waiter has left.
    pub(super) fn send(self, turn: Turn<B>) -> Result<(), Turn<B>> {
        self.turn.send(turn)
    }
}

/// The waiter's half. Dropped, it leaves the line.
pub(super) type Ticket<B> = InLine<Waiting<B>, Turn<B>>;

/// Somebody's place in a line of this process.
#[derive(Debug)]
pub(super) struct Waiting<B: Backend> {
    spot: Spot<B>,
    place: Place,
    _counted: Waits<B>,
}

impl<B: Backend> Waiting<B> {
    pub(super) fn new(spot: Spot<B>, place: Place) -> Self {
        let _counted = spot.count_waiting();
        Self {
            spot,
            place,
            _counted,
        }
    }
}

impl<B: Backend> Leave for Waiting<B> {
    fn leave(&self) -> bool {
        let left = self
            .spot
            .visit(|line| line.leave_queue(self.place))
            .unwrap_or(false);
        if left {
            // The one behind may be able to go where this one could not: a reader behind a writer.
            self.spot.advance();
        }
        left
    }
}
