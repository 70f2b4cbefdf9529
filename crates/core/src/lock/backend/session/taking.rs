//! Asking for one grant: a session that holds others first, and then the server's own line.

use super::{
    KeyOf, Open, Take,
    actor::{Ask, Link},
    asking::{Answered, Asked, asking},
    pool::Inner,
};
use crate::lock::{Request, Result, backend::Listener};
use std::{pin::pin, sync::PoisonError};
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
            Some((_, Answered::Refused)) => {}
            answered => return Ok(answered),
        }
        match self.place(asker).await? {
            Place::NotNeeded(answered) => Ok(answered),
            Place::Free(place) => self.wait_in_line(asker, place).await,
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
        Ok(match (trying.await?, place) {
            (Some((_, Answered::Refused)), Ok(place)) => Place::Free(place),
            (answered, _) => Place::NotNeeded(answered),
        })
    }

    /// Waits on a session of its own.
    async fn wait_in_line(
        &self,
        asker: &mut Asker<'_, O>,
        place: OwnedSemaphorePermit,
    ) -> Result<Option<Asking<O>>> {
        let (take, deadline) = (asker.take, asker.request.deadline);
        if asker.left.is_cancelled() || deadline.has_passed() {
            return Ok(None);
        }
        let Some(claim) = self.claims.claim(&take.key, take.mode) else {
            return Ok(None);
        };
        let session = self.one_that_waits();
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
        let asked = asking(&session, take, Some(claim));
        let deadline = asker.request.deadline;
        let answered = asked.wait(deadline, left, asker.hints).await?;
        Ok(Some((session, answered)))
    }

    /// A session that holds nothing, to wait at the server.
    fn one_that_waits(&self) -> Link<KeyOf<O>> {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.retain(Link::is_live);
        if let Some(session) = waiting.iter().find(|session| session.load() == 0) {
            session.reserve(1);
            return session.clone();
        }
        let session = self.start(self.options.server_bears, 1);
        waiting.push(session.clone());
        session
    }
}
