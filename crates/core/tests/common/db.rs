//! A database whose locks live on sessions. It grants a session again what that has already, as
//! databases do, and answers as it is told.

use super::events::{Count, Gate};
use lockwork_core::lock::{
    Error, ErrorKind, LockId, Mode, Result, Token,
    backend::{
        Present,
        session::{Answer, Batch, Open, Session, Taken},
    },
};
use std::{
    collections::VecDeque,
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
    pub(crate) takes: Vec<String>,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Db(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    state: Mutex<State>,
    /// Sessions pass here on their way in.
    door: Gate,
    /// Exchanges pass here before anything is done,
    before: Gate,
    /// and here when all is done and nothing told.
    after: Gate,
    pings: Gate,
    opened: Count,
    closed: Count,
    /// Sessions up to this one are broken.
    broken: watch::Sender<u64>,
}

impl Default for Inner {
    fn default() -> Self {
        Self {
            state: Mutex::default(),
            door: Gate::default(),
            before: Gate::default(),
            after: Gate::default(),
            pings: Gate::default(),
            opened: Count::default(),
            closed: Count::default(),
            broken: watch::Sender::new(0),
        }
    }
}

#[derive(Debug, Default)]
struct State {
    sessions: u64,
    refused: usize,
    panics: bool,
    holds: Vec<Held>,
    tokens: u64,
    script: VecDeque<Step>,
    clean_ups: VecDeque<CleanUp>,
    exchanges: Vec<Exchange>,
    wrongs: Vec<String>,
}

#[derive(Clone, Debug)]
struct Held {
    key: String,
    session: u64,
    mode: Mode,
}

/// Somebody else's session.
const RIVAL: u64 = 0;

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
        self.0.broken.send_replace(sessions);
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
        self.state().holds.retain(|held| held.session != RIVAL);
    }

    /// All that is held, in words.
    pub(crate) fn held(&self) -> Vec<String> {
        let state = self.state();
        let words = |held: &Held| format!("{} {}", held.mode.as_str(), held.key);
        let mut held: Vec<_> = state.holds.iter().map(words).collect();
        held.sort_unstable();
        held
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

    async fn open(&self, _: Option<Duration>) -> Result<DbSession> {
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
        })
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
}

impl Session for DbSession {
    type Key = String;

    async fn exchange(&mut self, batch: &Batch<String>) -> Result<Answer<String>> {
        let db = self.db.clone();
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
            Step::Answer | Step::FailAfterwards | Step::Silence | Step::Surplus => {}
        }
        let mut taken = db.state().apply(self.number, batch);
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
        Ok(Answer::granting(taken))
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
        let mut broken = self.db.0.broken.subscribe();
        let _ = broken.wait_for(|upto| *upto >= self.number).await;
        let message = "the connection was broken";
        Err(Error::new(ErrorKind::Unavailable, message))
    }
}

impl Drop for DbSession {
    fn drop(&mut self) {
        let number = self.number;
        if let Ok(mut state) = self.db.0.state.lock() {
            state.holds.retain(|held| held.session != number);
        }
        self.db.0.closed.add();
    }
}

impl State {
    fn record(&mut self, session: u64, batch: &Batch<String>) {
        let mut keys: Vec<_> = batch.gives.iter().map(|give| &give.key).collect();
        keys.extend(batch.takes.iter().map(|take| &take.key));
        keys.sort_unstable();
        if keys.windows(2).any(|pair| pair[0] == pair[1]) {
            self.wrongs
                .push(format!("a key occurs twice in one batch: {keys:?}"));
        }
        let words = |special: bool, word: &str, mode: Mode, key: &str| {
            format!("{} {key}", if special { word } else { mode.as_str() })
        };
        self.exchanges.push(Exchange {
            session,
            gives: batch
                .gives
                .iter()
                .map(|give| words(give.downgrade, "down", give.mode, &give.key))
                .collect(),
            takes: batch
                .takes
                .iter()
                .map(|take| words(take.upgrade, "up", take.mode, &take.key))
                .collect(),
        });
    }

    fn apply(&mut self, session: u64, batch: &Batch<String>) -> Vec<Taken<String>> {
        self.give(session, batch);
        let mut taken = Vec::new();
        for take in &batch.takes {
            let mut others = Present::default();
            let theirs = |held: &&Held| held.key == take.key && held.session != session;
            for held in self.holds.iter().filter(theirs) {
                others.add(held.mode);
            }
            if !others.admits(take.mode) {
                continue;
            }
            if take.upgrade {
                self.change(session, &take.key, Mode::Upgradeable, Mode::Write);
            } else {
                self.holds.push(Held {
                    key: take.key.clone(),
                    session,
                    mode: take.mode,
                });
            }
            let token = take.mode.has_token().then(|| {
                self.tokens += 1;
                Token::from_server(self.tokens)
            });
            taken.push(Taken {
                key: take.key.clone(),
                token: token.flatten(),
            });
            self.look_at(&take.key);
        }
        taken
    }

    fn give(&mut self, session: u64, batch: &Batch<String>) {
        for give in &batch.gives {
            if give.downgrade {
                self.change(session, &give.key, Mode::Write, Mode::Upgradeable);
            } else {
                self.remove(session, &give.key, give.mode);
            }
        }
    }

    fn take_back(&mut self, session: u64, batch: &Batch<String>, taken: &[String]) {
        for take in batch.takes.iter().filter(|take| taken.contains(&take.key)) {
            if take.upgrade {
                self.change(session, &take.key, Mode::Write, Mode::Upgradeable);
            } else {
                self.remove(session, &take.key, take.mode);
            }
        }
    }

    fn find(&mut self, session: u64, key: &str, mode: Mode) -> Option<usize> {
        let found = self
            .holds
            .iter()
            .position(|held| held.session == session && held.key == key && held.mode == mode);
        if found.is_none() {
            let mode = mode.as_str();
            self.wrongs
                .push(format!("session {session} does not hold {mode} {key}"));
        }
        found
    }

    fn remove(&mut self, session: u64, key: &str, mode: Mode) {
        if let Some(at) = self.find(session, key, mode) {
            self.holds.swap_remove(at);
        }
    }

    fn change(&mut self, session: u64, key: &str, from: Mode, to: Mode) {
        if let Some(at) = self.find(session, key, from) {
            self.holds[at].mode = to;
        }
    }

    /// Whether those who hold `key` go together, whatever session they are on.
    fn look_at(&mut self, key: &str) {
        let mut present = Present::default();
        for held in self.holds.iter().filter(|held| held.key == key) {
            if !present.admits(held.mode) {
                let mode = held.mode.as_str();
                self.wrongs.push(format!("{mode} {key} beside {present:?}"));
                return;
            }
            present.add(held.mode);
        }
    }
}
