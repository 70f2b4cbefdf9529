//! Waiting at the server: one session for one who was refused, until that is granted or left.

use super::{
    Session, Taken,
    actor::{Actor, Ask},
    riders::Taking,
};
use crate::lock::{Deadline, Error, ErrorKind, Instant, Loss, Result};
use std::{pin::pin, time::Duration};

/// So often a session that waits looks at the clock. What it hears then was said after that look: a
/// process that was frozen meanwhile must not take an old grant for a new one.
const LOOK: Duration = Duration::from_secs(1);

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
        loop {
            self.idle_since = Instant::now();
            let longest = self.options.wait_at_most;
            let at_most = deadline.remaining().map_or(longest, |it| it.min(longest));
            match self.wait_once(&mut taking, at_most).await {
                Waited::Left => return self.stop_waiting(taking, None).await,
                Waited::Ended(_, Err(error)) => {
                    return self.stop_waiting(taking, Some(error)).await;
                }
                Waited::Ended(heard_at, Ok(taken)) => {
                    self.asked_at = heard_at;
                    self.cell.heard_of(heard_at, self.options.server_bears);
                    if self.cell.valid_until().is_some_and(Instant::has_passed) {
                        let message = "the server's answer was too old when it was read";
                        let error = Error::new(ErrorKind::Unavailable, message);
                        return Err(self.end_waiting(taking, deadline, Loss::Expired, error));
                    }
                    if let Some(taken) = taken {
                        self.settle_take(taking, Some(taken.token));
                        return Ok(());
                    }
                    if deadline.has_passed() {
                        self.answer(taking, Ok(None));
                        return Ok(());
                    }
                }
            }
        }
    }

    async fn wait_once(
        &mut self,
        taking: &mut Taking<S::Key>,
        at_most: Duration,
    ) -> Waited<S::Key> {
        let Self { session, asks, .. } = self;
        let Taking {
            take,
            reply,
            ticket,
            ..
        } = taking;
        let give_up_at = Instant::now() + at_most + self.options.patience;
        let mut waiting = pin!(session.wait(take, at_most));
        loop {
            let looked_at = Instant::now();
            tokio::select! {
                biased;
                ended = &mut waiting => return Waited::Ended(looked_at, ended),
                ask = asks.recv() => match ask {
                    None => return Waited::Left,
                    Some(Ask::Leave(_, left)) if left.is(ticket) => return Waited::Left,
                    // Nobody else asks a session that waits; somebody else's hint says nothing new.
                    Some(_) => {}
                },
                () = reply.closed() => return Waited::Left,
                () = tokio::time::sleep(LOOK) => {
                    if give_up_at.has_passed() {
                        let message = "the server did not answer in time";
                        let error = Error::new(ErrorKind::Unavailable, message);
                        return Waited::Ended(looked_at, Err(error));
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
        let sent_at = Instant::now();
        let stopping = self.session.stop(&taking.take);
        let stopped = tokio::time::timeout(self.options.patience, stopping).await;
        let why = match stopped {
            Ok(Ok(())) => {
                self.asked_at = sent_at;
                self.cell.heard_of(sent_at, self.options.server_bears);
                self.answer(taking, error.map_or(Ok(None), Err));
                return Ok(());
            }
            Ok(Err(why)) => why,
            Err(_) => Error::new(ErrorKind::Unavailable, "the server did not stop in time"),
        };
        match error.filter(|error| !error.is_transient()) {
            Some(error) => {
                self.cell.end(Loss::Disconnected);
                self.fail_takes(vec![taking], &error);
                Err((Loss::Disconnected, why))
            }
            None => Err(self.end_waiting(taking, Deadline::Now, Loss::Disconnected, why)),
        }
    }

    /// The session ends. Whoever waited hears of it when the connection is gone, and what the
    /// server may have granted on it.
    fn end_waiting(
        &mut self,
        taking: Taking<S::Key>,
        deadline: Deadline,
        loss: Loss,
        error: Error,
    ) -> (Loss, Error) {
        self.to_wait.push_front((taking, deadline));
        (loss, error)
    }
}
