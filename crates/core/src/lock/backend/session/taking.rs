//! Asking for one grant: a session that holds others first, and then the server's own line.

use super::{
    KeyOf, Open, Take,
    actor::{Ask, Link},
    asking::{Answered, Asked},
    pool::Inner,
};
use crate::lock::{Instant, Request, Result, backend::Listener};
use std::{pin::pin, time::Duration};
use tokio::sync::OwnedSemaphorePermit;
use tokio_util::sync::CancellationToken;

/// Who was asked, and what became of it.
type Asking<O> = (Link<KeyOf<O>>, Answered);

/// Somebody who asks, until it has `left`.
pub(super) struct Asker<'a, O: Open> {
    pub(super) request: &'a Request,
    pub(super) take: &'a Take<KeyOf<O>>,
    pub(super) left: &'a CancellationToken,
    pub(super) hints: &'a mut Listener,
}

impl<O: Open> Asker<'_, O> {
    fn is_gone(&self) -> bool {
        self.left.is_cancelled() || self.request.deadline.has_passed()
    }
}

/// Whether there is a place at the server.
enum Place<O: Open> {
    Free(OwnedSemaphorePermit),
    /// It was answered before there was one.
    NotNeeded(Option<Asking<O>>),
}

impl<O: Open> Inner<O> {
    /// Asks a session, and then waits where that can be done; `None` if this process itself is in
    /// the way.
    pub(super) async fn ask(&self, asker: &mut Asker<'_, O>) -> Result<Option<Asking<O>>> {
        let take = asker.take;
        if !take.waits || !self.open.waits_for(take.mode) {
            return self.ask_one(asker, take.clone(), asker.left).await;
        }
        // Whoever is let in at once needs no session that waits.
        let mut once = take.clone();
        once.waits = false;
        match self.ask_one(asker, once, asker.left).await? {
            Some((_, Answered::Refused)) if !asker.is_gone() => {}
            answered => return Ok(answered),
        }
        loop {
            let place = match self.place(asker).await? {
                Place::NotNeeded(answered) => return Ok(answered),
                Place::Free(place) => place,
            };
            let ends_at = Instant::now() + self.options.wait_at_most;
            match self.wait_in_line(asker, place).await? {
                // Its time in the line is over, and its place is somebody's who had none. What ends
                // earlier is asked for again after a pause, lest a server that fails be asked all the time.
                Some((_, Answered::Refused)) if ends_at.has_passed() && !asker.is_gone() => {}
                answered => return Ok(answered),
            }
        }
    }

    /// A place at the server. While there is none, it is asked for now and then.
    async fn place(&self, asker: &mut Asker<'_, O>) -> Result<Place<O>> {
        if let Ok(place) = self.places.clone().try_acquire_owned() {
            return Ok(Place::Free(place));
        }
        let leaves = asker.left.child_token();
        let take = asker.take.clone();
        let mut trying = pin!(self.ask_one(asker, take, &leaves));
        let place = tokio::select! {
            biased;
            answered = &mut trying => return answered.map(Place::NotNeeded),
            place = self.places.clone().acquire_owned() => place,
        };
        leaves.cancel();
        match (trying.await, place) {
            (Ok(Some((_, Answered::Refused))), Ok(place)) => Ok(Place::Free(place)),
            // It left a session that was not open yet, say; there is another for it now.
            (Err(error), Ok(place)) if error.is_transient() => Ok(Place::Free(place)),
            (answered, _) => answered.map(Place::NotNeeded),
        }
    }

    /// Waits on a session of its own.
    async fn wait_in_line(
        &self,
        asker: &mut Asker<'_, O>,
        place: OwnedSemaphorePermit,
    ) -> Result<Option<Asking<O>>> {
        let (take, deadline) = (asker.take, asker.request.deadline);
        if asker.is_gone() {
            return Ok(None);
        }
        let Some(claim) = self.claims.claim(&take.key, take.mode) else {
            return Ok(None);
        };
        let session = self.one_that_waits(self.bears(asker.request))?;
        let (taking, asked) = Asked::new(&session, take.clone(), Some(claim.with_place(place)));
        session.ask(Ask::Wait(taking, deadline));
        let answered = asked.wait(deadline, asker.left, asker.hints).await?;
        Ok(Some((session, answered)))
    }

    /// Asks one of the sessions that do not wait at the server.
    async fn ask_one(
        &self,
        asker: &mut Asker<'_, O>,
        take: Take<KeyOf<O>>,
        left: &CancellationToken,
    ) -> Result<Option<Asking<O>>> {
        let Some(claim) = self.claims.claim(&take.key, take.mode) else {
            return Ok(None);
        };
        let session = self.session(self.bears(asker.request), 1)?;
        let (taking, asked) = Asked::new(&session, take, Some(claim));
        session.ask(Ask::Take(taking));
        let asked = asked.of_one_who_waits(asker.take.waits);
        let deadline = asker.request.deadline;
        let answered = asked.wait(deadline, left, asker.hints).await?;
        Ok(Some((session, answered)))
    }

    /// A session that holds nothing, to wait at the server.
    fn one_that_waits(&self, bears: Option<Duration>) -> Result<Link<KeyOf<O>>> {
        let mut sessions = self.sessions();
        self.within_quota(&sessions, 1)?;
        let waiting = &mut sessions.waiting;
        if let Some(session) = waiting.iter().find(|session| session.suits(bears, 1, 1)) {
            session.reserve(1);
            return Ok(session.clone());
        }
        let session = self.start(bears, 1);
        waiting.push(session.clone());
        Ok(session)
    }
}
