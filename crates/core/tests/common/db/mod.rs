//! A database whose locks live on sessions. It grants a session again what that has already, as
//! databases do, and answers as it is told.

mod line;
mod state;

use super::events::{Count, Gate};
use lockwork_core::lock::{
    Error, ErrorKind, LockId, Mode, Result,
    backend::session::{Answer, Batch, Open, Session, Take, Taken},
};
use state::{Held, RIVAL, State, words};
use std::{
    collections::HashSet,
    sync::{Arc, Mutex, MutexGuard},
    thread,
    time::Duration,
};
use tokio::sync::watch;

/// What becomes of one exchange. Pings are not asked for these.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Step {
    Answer,
    /// Nothing is done.
    Fail,
    /// Nothing is done, and trying again would not help.
    Deny,
    /// Everything is done, and an error told.
    FailAfterwards,
    /// Everything is done, and nothing told.
    Silence,
    /// After so long the keeper thread has no time for so long; then the answer is there.
    Frozen(Duration, Duration),
    /// After so long an error.
    FailAfter(Duration),
    Panic,
    /// The answer names a key that nobody asked for.
    Surplus,
    /// Nothing is granted.
    Refuse,
}

/// What becomes of one wait at the server.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Wait {
    Answer,
    /// Nothing is waited for.
    Fail,
    /// Nothing is waited for, and trying again would not help.
    Deny,
    /// It is granted, and an error told.
    FailAfterwards,
    /// It is granted, and told that trying again would not help.
    DenyAfterwards,
    /// Nothing is ever told.
    Silence,
    /// When it is granted the keeper thread has no time for so long; then the answer is there.
    Frozen(Duration),
    Panic,
}

/// What becomes of one stop.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Stop {
    Succeed,
    /// Somebody else lets go just before, so that the one who is stopped was granted it.
    GrantFirst,
    Fail,
    Never,
}

/// What becomes of one cleaning up.
#[derive(Clone, Copy, Debug)]
pub(crate) enum CleanUp {
    Succeed,
    Fail,
    Never,
}

/// One round trip that was more than a ping, in words: `read k`, `up k`, `down k`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Exchange {
    pub(crate) session: u64,
    pub(crate) gives: Vec<String>,
    pub(crate) leaves: Vec<String>,
    pub(crate) takes: Vec<String>,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Db(Arc<Inner>);

#[derive(Debug, Default)]
struct Inner {
    state: Mutex<State>,
    /// Sessions pass here on their way in.
    door: Gate,
    /// Exchanges pass here before anything is done,
    before: Gate,
    /// and here when all is done and nothing told.
    after: Gate,
    pings: Gate,
    /// Waits at the server pass here before they stand in line,
    waits: Gate,
    /// and here before they are stopped.
    stops: Gate,
    opened: Count,
    closed: Count,
    /// Sessions that are broken.
    broken: watch::Sender<HashSet<u64>>,
    /// All that sessions were told so far.
    news: watch::Sender<Vec<String>>,
}

impl Db {
    /// Tells what becomes of the next exchanges that are more than pings.
    pub(crate) fn next(&self, steps: impl IntoIterator<Item = Step>) {
        self.state().script.extend(steps);
    }

    /// Tells what becomes of the next cleanings up.
    pub(crate) fn next_clean_up(&self, clean_up: CleanUp) {
        self.state().clean_ups.push_back(clean_up);
    }

    /// The next session panics on its way in.
    pub(crate) fn panic_at_the_door(&self) {
        self.state().panics = true;
    }

    /// Lets so many sessions not in.
    pub(crate) fn refuse(&self, sessions: usize) {
        self.state().refused = sessions;
    }

    pub(crate) fn door(&self) -> &Gate {
        &self.0.door
    }

    pub(crate) fn before(&self) -> &Gate {
        &self.0.before
    }

    pub(crate) fn after(&self) -> &Gate {
        &self.0.after
    }

    pub(crate) fn pings(&self) -> &Gate {
        &self.0.pings
    }

    pub(crate) fn opened(&self) -> &Count {
        &self.0.opened
    }

    pub(crate) fn closed(&self) -> &Count {
        &self.0.closed
    }

    /// Breaks every connection there is.
    pub(crate) fn break_all(&self) {
        let sessions = self.state().sessions;
        self.0
            .broken
            .send_modify(|broken| broken.extend(1..=sessions));
    }

    /// Breaks the connection of this session.
    pub(crate) fn break_one(&self, session: u64) {
        self.0.broken.send_modify(|broken| {
            broken.insert(session);
        });
    }

    /// Somebody else takes `key`.
    pub(crate) fn rival_takes(&self, key: &str, mode: Mode) {
        self.state().holds.push(Held {
            key: key.to_owned(),
            session: RIVAL,
            mode,
        });
    }

    pub(crate) fn rival_leaves(&self) {
        self.state().forget(RIVAL);
    }

    /// Tells every session that somebody let go of `key`.
    pub(crate) fn tell(&self, key: &str) {
        self.0.news.send_modify(|news| news.push(key.to_owned()));
    }

    /// From now on others wait for `key`, and whoever gives it back hears of that.
    pub(crate) fn others_want(&self, key: &str) {
        self.state().wanted.push(key.to_owned());
    }

    pub(crate) fn limit(&self, quota: usize) {
        self.state().quota = Some(quota);
    }

    /// For how long each session that was asked for is to be borne.
    pub(crate) fn bears(&self) -> Vec<Option<Duration>> {
        self.state().bears.clone()
    }

    /// All who wait as far as the server was told, in words.
    pub(crate) fn waiting(&self) -> Vec<String> {
        words(&self.state().waiting)
    }

    /// All that is held, in words.
    pub(crate) fn held(&self) -> Vec<String> {
        words(&self.state().holds)
    }

    /// Every round trip so far that was more than a ping.
    pub(crate) fn exchanges(&self) -> Vec<Exchange> {
        self.state().exchanges.clone()
    }

    /// # Panics
    /// If anything happened that no database should be asked for.
    pub(crate) fn nothing_was_wrong(&self) {
        assert_eq!(self.state().wrongs, Vec::<String>::new());
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().expect("no test panics under this lock")
    }
}

impl Open for Db {
    type Session = DbSession;

    fn waits_for(&self, mode: Mode) -> bool {
        self.state().line_for.contains(&mode)
    }

    async fn open(&self, bears: Option<Duration>) -> Result<DbSession> {
        self.state().bears.push(bears);
        self.0.door.pass().await;
        let panics = std::mem::take(&mut self.state().panics);
        assert!(!panics, "the driver of this test panics, as it was told to");
        let mut state = self.state();
        if state.refused > 0 {
            state.refused -= 1;
            return Err(Error::new(ErrorKind::Denied, "no entry"));
        }
        state.sessions += 1;
        let number = state.sessions;
        drop(state);
        self.0.opened.add();
        Ok(DbSession {
            db: self.clone(),
            number,
            taken: None,
            must_stop: false,
            heard: self.0.news.borrow().len(),
        })
    }

    fn quota(&self) -> usize {
        self.state().quota.unwrap_or(usize::MAX)
    }

    /// `mutex:name`; or, of a name with a `#`, what is before it.
    fn key(&self, id: &LockId) -> String {
        match id.name.as_str().split_once('#') {
            Some((key, _)) => key.to_owned(),
            None => id.to_string(),
        }
    }
}

#[derive(Debug)]
pub(crate) struct DbSession {
    db: Db,
    number: u64,
    /// What the last exchange granted, if it was done at all.
    taken: Option<Vec<String>>,
    /// Waits, or did not hear what became of that.
    must_stop: bool,
    /// So much of the news.
    heard: usize,
}

impl Session for DbSession {
    type Key = String;

    async fn exchange(&mut self, batch: &Batch<String>) -> Result<Answer<String>> {
        let db = self.db.clone();
        self.must_not_wait();
        if batch.is_empty() {
            db.0.pings.pass().await;
            return Ok(Answer::granting(Vec::new()));
        }
        self.taken = None;
        db.state().record(self.number, batch);
        db.0.before.pass().await;
        let step = db.state().script.pop_front().unwrap_or(Step::Answer);
        let away = || Err(Error::new(ErrorKind::Unavailable, "the server is away"));
        match step {
            Step::Fail => return away(),
            Step::Deny => return Err(Error::new(ErrorKind::Denied, "no such right")),
            Step::FailAfter(time) => {
                tokio::time::sleep(time).await;
                return away();
            }
            Step::Panic => panic!("the driver of this test panics, as it was told to"),
            Step::Frozen(after, by) => {
                tokio::time::sleep(after).await;
                thread::sleep(by);
            }
            Step::Answer | Step::FailAfterwards | Step::Silence | Step::Surplus | Step::Refuse => {}
        }
        let refuses = matches!(step, Step::Refuse);
        let (mut taken, contended) = db.state().apply(self.number, batch, refuses);
        self.taken = Some(taken.iter().map(|taken| taken.key.clone()).collect());
        db.0.after.pass().await;
        match step {
            Step::FailAfterwards => return away(),
            Step::Silence => std::future::pending().await,
            Step::Surplus => taken.push(Taken {
                key: "nobody's".into(),
                token: None,
            }),
            _ => {}
        }
        // In no order that anybody could rely on.
        taken.reverse();
        Ok(Answer { taken, contended })
    }

    async fn clean_up(&mut self, batch: &Batch<String>) -> Result<()> {
        let clean_up = self.db.state().clean_ups.pop_front();
        match clean_up.unwrap_or(CleanUp::Succeed) {
            CleanUp::Fail => return Err(Error::new(ErrorKind::Unavailable, "still away")),
            CleanUp::Never => std::future::pending().await,
            CleanUp::Succeed => {}
        }
        let mut state = self.db.state();
        match self.taken.take() {
            None => state.give(self.number, batch),
            Some(taken) => state.take_back(self.number, batch, &taken),
        }
        Ok(())
    }

    async fn news(&mut self) -> Result<String> {
        self.must_not_wait();
        let mut news = self.db.0.news.subscribe();
        tokio::select! {
            biased;
            error = self.breaks() => Err(error),
            Ok(news) = news.wait_for(|news| news.len() > self.heard) => {
                self.heard += 1;
                Ok(news[self.heard - 1].clone())
            }
        }
    }

    async fn wait(
        &mut self,
        take: &Take<String>,
        at_most: Duration,
    ) -> Result<Option<Taken<String>>> {
        self.must_not_wait();
        self.must_stop = true;
        let ended = self.wait_in_line(take, at_most).await?;
        self.must_stop = false;
        Ok(ended)
    }

    async fn stop(&mut self, take: &Take<String>) -> Result<()> {
        self.stop_in_line(take).await?;
        self.must_stop = false;
        Ok(())
    }
}

impl Drop for DbSession {
    fn drop(&mut self) {
        let number = self.number;
        if let Ok(mut state) = self.db.0.state.lock() {
            state.line.retain(|waits| waits.held.session != number);
            state.waiting.retain(|waits| waits.session != number);
            state.forget(number);
        }
        self.db.0.closed.add();
    }
}
