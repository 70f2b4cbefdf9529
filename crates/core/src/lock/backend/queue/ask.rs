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
use tokio::sync::Notify;

/// The right to ask the server. Dropped, it goes to the next in line.
pub(super) struct Ask<B: Backend> {
    queue: Arc<Inner<B>>,
    id: LockId,
    mode: Mode,
    recall: Option<Arc<Notify>>,
    over: bool,
}

pub(super) enum Asked<B: Backend> {
    Granted(Owned<Seat<B>>),
    Refused,
    Recalled(Ticket<B>),
}

impl<B: Backend> Ask<B> {
    pub(super) const fn new(
        queue: Arc<Inner<B>>,
        id: LockId,
        mode: Mode,
        recall: Option<Arc<Notify>>,
    ) -> Self {
        Self {
            queue,
            id,
            mode,
            recall,
            over: false,
        }
    }

    /// Asks. Dropped half way, the backend takes its request back and the next in line asks.
    pub(super) async fn put(self, request: &Request) -> Result<Asked<B>> {
        let recalled = async {
            match &self.recall {
                Some(recall) => recall.notified().await,
                None => pending().await,
            }
        };
        let answer = tokio::select! {
            biased;
            answer = self.queue.backend.acquire(request.clone()) => Some(answer?),
            () = recalled => None,
        };
        Ok(match answer {
            Some(Some(hold)) => Asked::Granted(self.granted(hold, request)),
            Some(None) => Asked::Refused,
            None => Asked::Recalled(self.back_to_the_line(request)),
        })
    }

    /// The server granted `hold`.
    pub(super) fn granted(mut self, hold: B::Hold, request: &Request) -> Owned<Seat<B>> {
        self.over = true;
        let (queue, id, wish) = (self.queue.clone(), self.id.clone(), Wish::of(request));
        let number = queue.number();
        let lost = hold.lost();
        let (seat, shared) = if wish.mode == Mode::Read {
            let shared = Arc::new(Shared::new(hold, wish, number));
            (
                Seat::joined(queue.clone(), id.clone(), wish, shared.clone()),
                Some(shared),
            )
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
        let seat = Owned::new(seat, queue.releases.clone());
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
