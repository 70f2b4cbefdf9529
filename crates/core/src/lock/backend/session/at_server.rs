//! Waiting at the server: one session for one who was refused, until that is granted or left.

use super::{
    Session, Taken,
    actor::{Actor, Ask},
    looks::Looks,
    riders::Taking,
};
use crate::lock::{Deadline, Error, ErrorKind, Instant, Loss, Result};
use std::{pin::pin, time::Duration};
use tokio::time::MissedTickBehavior;

/// So often at least a session that waits looks at the clock: a process that was frozen meanwhile
/// must not take an old grant for a new one.
const LOOK: Duration = Duration::from_secs(1);

/// And not more often than so.
const SHORTEST: Duration = Duration::from_millis(1);

/// What became of one wait.
enum Waited<K> {
    /// It ended, not earlier than at that time.
    Ended(Instant, Result<Option<Taken<K>>>),
    /// Nobody wants it any more.
    Left,
}

impl<S: Session> Actor<S> {
    /// Waits for one, and answers it.
    pub(super) async fn wait_at_server(
        &mut self,
        mut taking: Taking<S::Key>,
        deadline: Deadline,
    ) -> Result<(), (Loss, Error)> {
        taking.ticket.keep();
        let longest = self.options.wait_at_most;
        let at_most = deadline.remaining().map_or(longest, |it| it.min(longest));
        let (heard_at, taken) = match self.wait_once(&mut taking, at_most).await {
            Waited::Left => return self.stop_waiting(taking, None).await,
            Waited::Ended(_, Err(error)) => return self.stop_waiting(taking, Some(error)).await,
            Waited::Ended(heard_at, Ok(taken)) => (heard_at, taken),
        };
        self.asked_at = heard_at;
        self.cell.heard_of(heard_at, self.options.server_bears);
        if self.cell.valid_until().is_some_and(Instant::has_passed) {
            let message = "the server's answer was too old when it was read";
            let error = Error::new(ErrorKind::Unavailable, message);
            // Dropped with the connection, and what the server may have granted on it.
            self.to_wait.push_front((taking, deadline));
            return Err((Loss::Expired, error));
        }
        match taken {
            Some(taken) => self.settle_take(taking, Some(taken.token)),
            // Whoever has no place comes first now: this one asks anew, behind it.
            None => self.answer(taking, Ok(None)),
        }
        Ok(())
    }

    async fn wait_once(
        &mut self,
        taking: &mut Taking<S::Key>,
        at_most: Duration,
    ) -> Waited<S::Key> {
        let look = LOOK.min(self.options.ping_every / 2).max(SHORTEST);
        let Self { session, asks, .. } = self;
        let Taking {
            take,
            reply,
            ticket,
            ..
        } = taking;
        let began_at = Instant::now();
        let give_up_at = began_at + at_most + self.options.patience;
        let mut looks = Looks::new(began_at, look);
        let mut next_look = tokio::time::interval(look);
        next_look.set_missed_tick_behavior(MissedTickBehavior::Delay);
        next_look.reset();
        let mut waiting = pin!(session.wait(take, at_most));
        loop {
            tokio::select! {
                biased;
                ended = &mut waiting => return Waited::Ended(looks.heard_since(), ended),
                ask = asks.recv() => match ask {
                    None => return Waited::Left,
                    Some(Ask::Leave(_, left)) if left.is(ticket) => return Waited::Left,
                    // Nobody else asks a session that waits; somebody else's hint says nothing new.
                    Some(_) => {}
                },
                () = reply.closed() => return Waited::Left,
                _ = next_look.tick() => {
                    looks.look(Instant::now());
                    if give_up_at.has_passed() {
                        let message = "the server did not answer in time";
                        let error = Error::new(ErrorKind::Unavailable, message);
                        return Waited::Ended(looks.heard_since(), Err(error));
                    }
                }
            }
        }
    }

    /// Ends a wait at the server, and answers whoever wanted it once nothing of it is left there.
    async fn stop_waiting(
        &mut self,
        taking: Taking<S::Key>,
        error: Option<Error>,
    ) -> Result<(), (Loss, Error)> {
        if let Some(error) = &error {
            tracing::debug!(%error, "a wait at the server failed");
        }
        // Who can be helped by trying again is: that is what it waits for.
        let denied = error.filter(|error| !error.is_transient());
        let sent_at = Instant::now();
        let stopping = self.session.stop(&taking.take);
        let stopped = tokio::time::timeout(self.options.patience, stopping).await;
        let why = match stopped {
            Ok(Ok(())) => {
                self.asked_at = sent_at;
                self.cell.heard_of(sent_at, self.options.server_bears);
                self.answer(taking, denied.map_or(Ok(None), Err));
                return Ok(());
            }
            Ok(Err(why)) => why,
            Err(_) => Error::new(ErrorKind::Unavailable, "the server did not stop in time"),
        };
        match denied {
            Some(error) => self.denied = Some((taking, error)),
            None => self.to_wait.push_front((taking, Deadline::Now)),
        }
        Err((Loss::Disconnected, why))
    }
}
