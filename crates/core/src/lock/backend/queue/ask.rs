//! Asking the server, in the name of the line.

use super::{
    seat::{Seat, Shared},
    spot::{Spot, Waits},
    ticket::{Place, Ticket, Waiting, Wish},
};
use crate::lock::{
    Mode, Request, Result,
    backend::{Backend, Hold, Owned},
};
use std::{future::pending, sync::Arc};
use tokio::sync::oneshot;

/// The right to ask the server. Dropped, it goes to the next in line.
#[derive(Debug)]
pub(super) struct Ask<B: Backend> {
    /// `None` once it is over.
    spot: Option<Spot<B>>,
    mode: Mode,
    interrupted: Option<(oneshot::Receiver<Interrupt<B>>, Waits<B>)>,
}

/// What can come between a question and its answer.
#[derive(Debug)]
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
    pub(super) fn new(
        spot: Spot<B>,
        mode: Mode,
        interrupted: Option<oneshot::Receiver<Interrupt<B>>>,
    ) -> Self {
        let interrupted = interrupted.map(|interrupted| (interrupted, spot.count_waiting()));
        Self {
            spot: Some(spot),
            mode,
            interrupted,
        }
    }

    fn spot(&self) -> &Spot<B> {
        self.spot
            .as_ref()
            .expect("whoever ends an ask has it by value")
    }

    fn end(&mut self) -> Spot<B> {
        self.spot
            .take()
            .expect("whoever ends an ask has it by value")
    }

    /// Asks. Dropped half way, the backend takes its request back and the next in line asks.
    pub(super) async fn put(mut self, request: &Request) -> Result<Asked<B>> {
        let answer = match self.interrupted.take() {
            None => self.spot().queue.backend.acquire(request.clone()).await?,
            Some((interrupted, _waits)) => {
                match Box::pin(self.put_unless(interrupted, request)).await? {
                    Ok(answer) => answer,
                    Err(Interrupt::Take(seat)) => return Ok(Asked::Granted(seat.into_inner())),
                    Err(Interrupt::GoBack) => {
                        return Ok(Asked::Recalled(self.back_to_the_line(request)));
                    }
                }
            }
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
            answer = self.spot().queue.backend.acquire(request.clone()) => Ok(Ok(answer?)),
            interrupt = interrupt => Ok(Err(interrupt)),
        }
    }

    /// The server granted `hold`.
    pub(super) fn granted(mut self, hold: B::Hold, wish: Wish) -> Seat<B> {
        let spot = self.end();
        let number = spot.queue.number();
        let lost = hold.lost();
        let (seat, shared) = if wish.mode == Mode::Read {
            let shared = Arc::new(Shared::new(hold, wish, number));
            (Seat::joined(spot, wish, shared.clone()), Some(shared))
        } else {
            (Seat::sole(spot, wish, number, hold), None)
        };
        let spot = &seat.spot;
        // There is a line: this ask is in it.
        let others = spot.visit(|line| {
            line.end_ask(wish.mode);
            line.admit(spot, (number, wish.mode, lost), shared.as_ref());
            line.has_waiters()
        });
        // The seat has its own share, so this one is not the last, which would have to give back.
        drop(shared);
        if others == Some(true) {
            spot.advance();
        }
        seat
    }

    /// Ends without a turn for anybody else.
    pub(super) fn withdraw(mut self) {
        self.end().visit(|line| line.end_ask(self.mode));
    }

    fn back_to_the_line(mut self, request: &Request) -> Ticket<B> {
        let spot = self.end();
        let place = Place::Recalled(spot.queue.number());
        let turn = spot.join(|line| {
            line.end_ask(self.mode);
            line.queue_up(&spot, Wish::of(request), place)
        });
        // The upgrade this one was recalled for may begin now.
        spot.advance();
        Ticket::new(Waiting::new(spot, place), turn)
    }
}

impl<B: Backend> Drop for Ask<B> {
    fn drop(&mut self) {
        if let Some(spot) = self.spot.take() {
            spot.visit(|line| line.end_ask(self.mode));
            spot.advance();
        }
    }
}
