//! Asking the server, in the name of the line.

use super::{
    Inner,
    seat::{Seat, Shared},
    ticket::{Place, Ticket, Wish},
};
use crate::lock::{
    LockId, Mode, Request, Result,
    backend::{Backend, Hold, Owned},
};
use std::{fmt, future::pending, sync::Arc};
use tokio::sync::oneshot;

/// The right to ask the server. Dropped, it goes to the next in line.
pub(super) struct Ask<B: Backend> {
    queue: Arc<Inner<B>>,
    id: LockId,
    mode: Mode,
    interrupted: Option<oneshot::Receiver<Interrupt<B>>>,
    over: bool,
}

/// What can come between a question and its answer.
pub(super) enum Interrupt<B: Backend> {
    /// Somebody here left the same: no need to wait any more.
    Take(Owned<Seat<B>>),
    /// An upgrade goes first: back to the head of the line.
    GoBack,
}

pub(super) enum Asked<B: Backend> {
    Granted(Seat<B>),
    Refused,
    Recalled(Ticket<B>),
}

impl<B: Backend> Ask<B> {
    pub(super) const fn new(
        queue: Arc<Inner<B>>,
        id: LockId,
        mode: Mode,
        interrupted: Option<oneshot::Receiver<Interrupt<B>>>,
    ) -> Self {
        Self {
            queue,
            id,
            mode,
            interrupted,
            over: false,
        }
    }

    /// Whether nothing can come between the question and its answer.
    pub(super) const fn is_alone(&self) -> bool {
        self.interrupted.is_none()
    }

    /// Asks. Dropped half way, the backend takes its request back and the next in line asks.
    pub(super) async fn put(mut self, request: &Request) -> Result<Asked<B>> {
        let answer = match self.interrupted.take() {
            None => self.queue.backend.acquire(request.clone()).await?,
            Some(interrupted) => match Box::pin(self.put_unless(interrupted, request)).await? {
                Ok(answer) => answer,
                Err(Interrupt::Take(seat)) => return Ok(Asked::Granted(seat.into_inner())),
                Err(Interrupt::GoBack) => {
                    return Ok(Asked::Recalled(self.back_to_the_line(request)));
                }
            },
        };
        Ok(answer.map_or(Asked::Refused, |hold| {
            Asked::Granted(self.granted(hold, Wish::of(request)))
        }))
    }

    async fn put_unless(
        &self,
        interrupted: oneshot::Receiver<Interrupt<B>>,
        request: &Request,
    ) -> Result<Result<Option<B::Hold>, Interrupt<B>>> {
        let interrupt = async {
            match interrupted.await {
                Ok(interrupt) => interrupt,
                // A line that forgot how to interrupt will not.
                Err(_) => pending().await,
            }
        };
        tokio::select! {
            biased;
            answer = self.queue.backend.acquire(request.clone()) => Ok(Ok(answer?)),
            interrupt = interrupt => Ok(Err(interrupt)),
        }
    }

    /// The server granted `hold`.
    pub(super) fn granted(mut self, hold: B::Hold, wish: Wish) -> Seat<B> {
        self.over = true;
        let (queue, id) = (self.queue.clone(), self.id.clone());
        let number = queue.number();
        let lost = hold.lost();
        let (seat, shared) = if wish.mode == Mode::Read {
            let shared = Arc::new(Shared::new(hold, wish, number));
            let seat = Seat::joined(queue.clone(), id.clone(), wish, shared.clone());
            (seat, Some(shared))
        } else {
            (
                Seat::sole(queue.clone(), id.clone(), wish, number, hold),
                None,
            )
        };
        let others = queue.lines.join(&id, |line| {
            line.end_ask(wish.mode);
            line.admit(&queue, &id, (number, wish.mode, lost), shared.as_ref());
            line.has_waiters()
        });
        // The seat has its own share, so this one is not the last, which would have to give back.
        drop(shared);
        if others {
            queue.advance(&id);
        }
        seat
    }

    /// Ends without a turn for anybody else.
    pub(super) fn withdraw(mut self) {
        self.over = true;
        self.queue
            .lines
            .visit(&self.id, |line| line.end_ask(self.mode));
    }

    fn back_to_the_line(mut self, request: &Request) -> Ticket<B> {
        self.over = true;
        let ticket = self.queue.lines.join(&self.id, |line| {
            line.end_ask(self.mode);
            let place = Place::Recalled(self.queue.number());
            line.queue_up(&self.queue, &self.id, Wish::of(request), place)
        });
        // The upgrade this one was recalled for may begin now.
        self.queue.advance(&self.id);
        ticket
    }
}

impl<B: Backend> Drop for Ask<B> {
    fn drop(&mut self) {
        if !self.over {
            self.queue
                .lines
                .visit(&self.id, |line| line.end_ask(self.mode));
            self.queue.advance(&self.id);
        }
    }
}

impl<B: Backend> fmt::Debug for Ask<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Ask({} in {:?})", self.id, self.mode)
    }
}
