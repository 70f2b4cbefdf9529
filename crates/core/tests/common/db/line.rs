//! The line at such a database: whoever waits is let in by whoever lets go, first come first served.

use super::{
    Db, DbSession, Stop, Wait,
    state::{Held, RIVAL, State},
};
use crate::common::events::Gate;
use lockwork_core::lock::{
    Error, ErrorKind, Mode, Result,
    backend::{
        Present,
        session::{Take, Taken},
    },
};
use std::{thread, time::Duration};
use tokio::sync::oneshot;

/// One who stands in line.
#[derive(Debug)]
pub(super) struct Waits {
    pub(super) held: Held,
    tell: oneshot::Sender<Taken<String>>,
}

impl Db {
    /// From now on sessions can wait at the server, in these modes.
    pub(crate) fn lets_wait(&self, modes: &[Mode]) {
        self.state().line_for = modes.to_vec();
    }

    /// Tells what becomes of the next waits at the server.
    pub(crate) fn next_waits(&self, waits: impl IntoIterator<Item = Wait>) {
        self.state().waits.extend(waits);
    }

    /// Tells what becomes of the next stops.
    pub(crate) fn next_stop(&self, stop: Stop) {
        self.state().stops.push_back(stop);
    }

    pub(crate) fn waits(&self) -> &Gate {
        &self.0.waits
    }

    pub(crate) fn stops(&self) -> &Gate {
        &self.0.stops
    }

    /// Somebody else lets go of `key` alone.
    pub(crate) fn rival_gives(&self, key: &str) {
        let mut state = self.state();
        state
            .holds
            .retain(|held| held.session != RIVAL || held.key != key);
        state.hand_over();
    }

    /// All who wait at the server, in words, the first one first.
    pub(crate) fn line(&self) -> Vec<String> {
        let state = self.state();
        state.line.iter().map(|waits| waits.held.words()).collect()
    }

    /// How many waited at the server at most at once.
    pub(crate) fn longest_line(&self) -> usize {
        self.state().longest_line
    }

    /// Every wait at the server so far: on which session, and for what.
    pub(crate) fn waited(&self) -> Vec<(u64, String)> {
        self.state().waited.clone()
    }
}

impl State {
    fn line_up(&mut self, session: u64, take: &Take<String>) -> oneshot::Receiver<Taken<String>> {
        let (tell, told) = oneshot::channel();
        let held = Held {
            key: take.key.clone(),
            session,
            mode: take.mode,
        };
        if self.holds.iter().any(|held| held.session == session) {
            let wrong = format!("session {session} waits while it holds something");
            self.wrongs.push(wrong);
        }
        self.waited.push((session, held.words()));
        self.line.push(Waits { held, tell });
        self.hand_over();
        self.longest_line = self.longest_line.max(self.line.len());
        told
    }

    /// Lets in whom nobody is in the way of, neither inside nor further ahead in line.
    pub(super) fn hand_over(&mut self) {
        let mut at = 0;
        while at < self.line.len() {
            let (next, ahead) = (&self.line[at].held, &self.line[..at]);
            let mut present = Present::default();
            for held in self.holds.iter().filter(|held| held.key == next.key) {
                present.add(held.mode);
            }
            let waits = ahead.iter().any(|ahead| ahead.held.key == next.key);
            if waits || !present.admits(next.mode) {
                at += 1;
                continue;
            }
            let Waits { held, tell } = self.line.remove(at);
            self.holds.push(held.clone());
            let taken = self.taken(&held.key, held.mode);
            // The server does not know whether anybody still listens.
            let _ = tell.send(taken);
        }
    }

    /// Takes the session out of the line, and gives back what it was granted there.
    fn stop(&mut self, session: u64) {
        self.line.retain(|waits| waits.held.session != session);
        self.forget(session);
    }
}

impl DbSession {
    pub(super) async fn breaks(&self) -> Error {
        let mut broken = self.db.0.broken.subscribe();
        let _ = broken
            .wait_for(|broken| broken.contains(&self.number))
            .await;
        Error::new(ErrorKind::Unavailable, "the connection was broken")
    }

    /// Nothing but a stop comes after a wait whose end was not heard.
    pub(super) fn must_not_wait(&self) {
        if self.must_stop {
            let wrong = format!("session {} was not stopped", self.number);
            self.db.state().wrongs.push(wrong);
        }
    }

    pub(super) async fn wait_in_line(
        &self,
        take: &Take<String>,
        at_most: Duration,
    ) -> Result<Option<Taken<String>>> {
        self.db.0.waits.pass().await;
        let step = self.db.state().waits.pop_front().unwrap_or(Wait::Answer);
        match step {
            Wait::Fail => return Err(away()),
            Wait::Deny => return Err(denied()),
            Wait::Panic => panic!("the driver of this test panics, as it was told to"),
            _ => {}
        }
        let told = self.db.state().line_up(self.number, take);
        let granted = tokio::select! {
            biased;
            granted = told => granted.ok(),
            error = self.breaks() => return Err(error),
            () = tokio::time::sleep(at_most), if !matches!(step, Wait::Silence) => {
                self.leave_the_line()
            }
        };
        match step {
            Wait::FailAfterwards => Err(away()),
            Wait::DenyAfterwards => Err(denied()),
            Wait::Silence => std::future::pending().await,
            Wait::Frozen(by) => {
                thread::sleep(by);
                Ok(granted)
            }
            _ => Ok(granted),
        }
    }

    /// Its time is up.
    fn leave_the_line(&self) -> Option<Taken<String>> {
        self.db.state().stop(self.number);
        None
    }

    pub(super) async fn stop_in_line(&self, _: &Take<String>) -> Result<()> {
        self.db.0.stops.pass().await;
        let stop = self.db.state().stops.pop_front();
        match stop.unwrap_or(Stop::Succeed) {
            Stop::Fail => return Err(Error::new(ErrorKind::Unavailable, "still away")),
            Stop::Never => std::future::pending().await,
            Stop::GrantFirst => self.db.rival_leaves(),
            Stop::Succeed => {}
        }
        if self.db.0.broken.borrow().contains(&self.number) {
            return Err(away());
        }
        self.db.state().stop(self.number);
        Ok(())
    }
}

fn away() -> Error {
    Error::new(ErrorKind::Unavailable, "the server is away")
}

fn denied() -> Error {
    Error::new(ErrorKind::Denied, "no such right")
}
