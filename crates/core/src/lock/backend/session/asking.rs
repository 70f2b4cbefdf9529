//! One request to a session: asked, waited for, and left.

use super::{
    Take,
    actor::{Ask, Granted, Link},
    claims::Claim,
    riders::{Taking, Ticket},
};
use crate::lock::{Deadline, Result, Token, backend::Listener};
use std::hash::Hash;
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

/// A request whose answer is not there yet.
#[derive(Debug)]
pub(super) struct Asked<K: Eq + Hash> {
    session: Link<K>,
    key: K,
    /// May leave before it is answered.
    waits: bool,
    ticket: Ticket,
    answer: oneshot::Receiver<Result<Option<Granted<K>>>>,
}

/// What became of a request.
#[derive(Debug)]
pub(super) enum Answered {
    /// With its token.
    Granted(Option<Token>),
    Refused,
    /// The session ended before, and took what it may have granted with it.
    Over {
        /// It had answered once, and the request waited.
        waited: bool,
    },
}

impl<K: Eq + Hash + Clone + Send + Sync> Asked<K> {
    /// A request that is still to be sent.
    pub(super) fn new(
        session: &Link<K>,
        take: Take<K>,
        claim: Option<Claim<K>>,
    ) -> (Taking<K>, Self) {
        let (reply, answer) = oneshot::channel();
        let asked = Self {
            session: session.clone(),
            key: take.key.clone(),
            waits: take.waits,
            ticket: Ticket::default(),
            answer,
        };
        let taking = Taking {
            take,
            claim,
            reply,
            ticket: asked.ticket.clone(),
        };
        (taking, asked)
    }

    /// The same for one who has time to wait, whether or not the session is to keep it.
    pub(super) const fn of_one_who_waits(mut self, waits: bool) -> Self {
        self.waits = waits;
        self
    }

    /// The answer; `None` if the session ended before it answered, and took what it may have
    /// granted with it.
    pub(super) async fn answer(self) -> Option<Result<Option<Granted<K>>>> {
        self.answer.await.ok()
    }

    /// Waits for the answer until the deadline passes or whoever asked has `left`, and then tells
    /// the session, which answers at once.
    pub(super) async fn wait(
        mut self,
        deadline: Deadline,
        left: &CancellationToken,
        hints: &mut Listener,
    ) -> Result<Answered> {
        if !self.waits {
            let answer = self.answer.await;
            return answered(answer, &self.ticket);
        }
        let (mut answer, mut waits) = (None, true);
        while waits && answer.is_none() {
            let happened = async {
                tokio::select! {
                    biased;
                    answer = &mut self.answer => Some(answer),
                    () = hints.hinted() => None,
                }
            };
            tokio::select! {
                biased;
                happened = deadline.wait_for(happened) => match happened {
                    Some(Some(answered)) => answer = Some(answered),
                    Some(None) => self.session.ask(Ask::Again(self.key.clone())),
                    None => waits = false,
                },
                () = left.cancelled() => waits = false,
            }
        }
        let answer = match answer {
            Some(answer) => answer,
            None => {
                self.session
                    .ask(Ask::Leave(self.key.clone(), self.ticket.clone()));
                self.answer.await
            }
        };
        answered(answer, &self.ticket)
    }
}

fn answered<K: Eq + Hash>(
    answer: Result<Result<Option<Granted<K>>>, oneshot::error::RecvError>,
    ticket: &Ticket,
) -> Result<Answered> {
    let Ok(answer) = answer else {
        let waited = ticket.is_kept();
        return Ok(Answered::Over { waited });
    };
    Ok(answer?.map_or(Answered::Refused, |granted| {
        Answered::Granted(granted.accept())
    }))
}
