//! What such a database knows.

use super::{CleanUp, Exchange, Step, Stop, Wait, line::Waits};
use lockwork_core::lock::{
    Mode, Token,
    backend::{
        Present,
        session::{Batch, Take, Taken},
    },
};
use std::{
    collections::{HashMap, VecDeque},
    time::Duration,
};

#[derive(Debug, Default)]
pub(super) struct State {
    pub(super) sessions: u64,
    pub(super) refused: usize,
    pub(super) panics: bool,
    pub(super) holds: Vec<Held>,
    /// Who was refused and waits, as far as the server was told.
    pub(super) waiting: Vec<Held>,
    /// What others wait for.
    pub(super) wanted: Vec<String>,
    pub(super) quota: Option<usize>,
    /// For how long each session that was asked for is to be borne.
    pub(super) bears: Vec<Option<Duration>>,
    pub(super) tokens: u64,
    pub(super) script: VecDeque<Step>,
    pub(super) clean_ups: VecDeque<CleanUp>,
    /// The modes for which sessions can wait at the server,
    pub(super) line_for: Vec<Mode>,
    /// who does, in order,
    pub(super) line: Vec<Waits>,
    /// what becomes of the next ones, and of those that are stopped,
    pub(super) waits: VecDeque<Wait>,
    pub(super) stops: VecDeque<Stop>,
    /// and every wait so far, and how many there were at most at once.
    pub(super) waited: Vec<(u64, String)>,
    pub(super) longest_line: usize,
    pub(super) exchanges: Vec<Exchange>,
    pub(super) wrongs: Vec<String>,
}

#[derive(Clone, Debug)]
pub(super) struct Held {
    pub(super) key: String,
    pub(super) session: u64,
    pub(super) mode: Mode,
}

impl Held {
    pub(super) fn words(&self) -> String {
        format!("{} {}", self.mode.as_str(), self.key)
    }
}

pub(super) fn words(held: &[Held]) -> Vec<String> {
    let mut held: Vec<_> = held.iter().map(Held::words).collect();
    held.sort_unstable();
    held
}

/// Somebody else's session.
pub(super) const RIVAL: u64 = 0;

impl State {
    pub(super) fn record(&mut self, session: u64, batch: &Batch<String>) {
        let mut keys: Vec<_> = batch.gives.iter().map(|give| &give.key).collect();
        keys.extend(batch.leaves.iter().map(|take| &take.key));
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
            leaves: batch
                .leaves
                .iter()
                .map(|take| words(take.upgrade, "up", take.mode, &take.key))
                .collect(),
            takes: batch
                .takes
                .iter()
                .map(|take| words(take.upgrade, "up", take.mode, &take.key))
                .collect(),
        });
    }

    /// What was granted, and what was given back while others wait for it.
    pub(super) fn apply(
        &mut self,
        session: u64,
        batch: &Batch<String>,
        refuses: bool,
    ) -> (Vec<Taken<String>>, Vec<String>) {
        self.give(session, batch);
        let given = batch.gives.iter().map(|give| give.key.clone());
        let contended = given.filter(|key| self.wanted.contains(key)).collect();
        for take in &batch.leaves {
            self.waits_no_more(session, take);
        }
        let mut others = HashMap::<_, Present>::new();
        for held in self.holds.iter().filter(|held| held.session != session) {
            others.entry(held.key.clone()).or_default().add(held.mode);
        }
        let mut taken = Vec::new();
        for take in &batch.takes {
            let beside = others.get(&take.key);
            if refuses || beside.is_some_and(|others| !others.admits(take.mode)) {
                if take.waits {
                    self.waits_no_more(session, take);
                    self.waiting.push(Held {
                        key: take.key.clone(),
                        session,
                        mode: take.mode,
                    });
                }
                continue;
            }
            self.waits_no_more(session, take);
            if take.upgrade {
                self.change(session, &take.key, Mode::Upgradeable, Mode::Write);
            } else {
                self.holds.push(Held {
                    key: take.key.clone(),
                    session,
                    mode: take.mode,
                });
            }
            taken.push(self.taken(&take.key, take.mode));
        }
        (taken, contended)
    }

    /// One who was let in.
    pub(super) fn taken(&mut self, key: &str, mode: Mode) -> Taken<String> {
        let token = mode.has_token().then(|| {
            self.tokens += 1;
            Token::from_server(self.tokens)
        });
        self.look_at(key);
        Taken {
            key: key.to_owned(),
            token: token.flatten(),
        }
    }

    fn waits_no_more(&mut self, session: u64, take: &Take<String>) {
        self.waiting.retain(|waits| {
            waits.session != session || waits.key != take.key || waits.mode != take.mode
        });
    }

    pub(super) fn give(&mut self, session: u64, batch: &Batch<String>) {
        for give in &batch.gives {
            if give.downgrade {
                self.change(session, &give.key, Mode::Write, Mode::Upgradeable);
            } else {
                self.remove(session, &give.key, give.mode);
            }
        }
    }

    pub(super) fn take_back(&mut self, session: u64, batch: &Batch<String>, taken: &[String]) {
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
        self.hand_over();
    }

    /// All that this session holds is free.
    pub(super) fn forget(&mut self, session: u64) {
        self.holds.retain(|held| held.session != session);
        self.hand_over();
    }

    fn change(&mut self, session: u64, key: &str, from: Mode, to: Mode) {
        if let Some(at) = self.find(session, key, from) {
            self.holds[at].mode = to;
        }
        self.hand_over();
    }

    /// Whether those who hold `key` go together, whatever session they are on.
    pub(super) fn look_at(&mut self, key: &str) {
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
