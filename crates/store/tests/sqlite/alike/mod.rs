//! Whatever is asked for, in whatever order, a store in a file and one in memory say the same.

/// Asks both for the same.
macro_rules! both {
    ($self:ident, $method:ident($($argument:expr),*)) => {{
        $self.log.push(format!(concat!(stringify!($method), "{:?}"), ($(&$argument,)*)));
        let memory = soon($self.memory.$method($(Clone::clone(&$argument)),*)).await;
        let sqlite = soon($self.sqlite.$method($(Clone::clone(&$argument)),*)).await;
        (memory.map_err(|error| error.kind()), sqlite.map_err(|error| error.kind()))
    }};
}

/// Asks both for the same, and looks whether they say the same.
macro_rules! same {
    ($self:ident, $method:ident($($argument:expr),*)) => {{
        let said = both!($self, $method($($argument),*));
        $self.same(&said);
    }};
}

mod chance;
mod errands;
mod instances;
mod looking;
mod others;

use crate::support::{Place, at};
use chance::Chance;
use lockwork_core::workflow::{BookmarkId, Time};
use lockwork_runtime::{
    MemoryStore,
    store::{Claimed, Errand, Held, TakenJob},
};
use lockwork_store::sqlite::SqliteStore;
use std::fmt::Debug;

/// The same errand, as each store has handed it out.
type Pair<T> = (T, T);

struct Both {
    memory: MemoryStore,
    sqlite: SqliteStore,
    chance: Chance,
    now: Time,
    held: Vec<Pair<Held>>,
    jobs: Vec<Pair<TakenJob>>,
    claims: Vec<Claimed>,
    bookmarks: Vec<BookmarkId>,
    counted: u64,
    /// What was asked for, for whoever has to find out why the stores differ.
    log: Vec<String>,
}

impl Both {
    fn same<T: Debug>(&self, (memory, sqlite): &(T, T)) {
        let (memory, sqlite) = (format!("{memory:?}"), format!("{sqlite:?}"));
        if memory != sqlite {
            let from = self.log.len().saturating_sub(40);
            panic!(
                "{}\nin memory: {memory}\nin a file: {sqlite}",
                self.log[from..].join("\n")
            );
        }
    }

    fn count(&mut self) -> u64 {
        self.counted += 1;
        self.counted
    }

    fn later(&mut self) -> Time {
        let now = self.now.as_millis();
        at(now + i64::try_from(self.chance.below(20)).unwrap())
    }

    /// Keeps what both have handed out, and looks whether it is the same. Which of several errands that one commit has
    /// asked for comes first is nobody's business.
    fn keep(&mut self, (mut memory, mut sqlite): (Vec<Held>, Vec<Held>)) {
        let of = |all: &mut Vec<Held>| -> Vec<_> {
            all.sort_unstable_by(|one, other| one.errand.id.cmp(&other.errand.id));
            let all = all.iter();
            all.map(|held| (held.errand.clone(), held.attempt))
                .collect()
        };
        self.same(&(of(&mut memory), of(&mut sqlite)));
        self.held.extend(memory.into_iter().zip(sqlite));
    }

    /// An errand that is done by what asks for these. (Nothing asks for what it does.)
    fn some_other(&mut self, than: &[&Errand]) -> (Option<Held>, Option<Held>) {
        let held = self.some_held();
        let other = held.filter(|(held, _)| than.iter().all(|one| one.id != held.errand.id));
        other.map_or((None, None), |(memory, sqlite)| {
            (Some(memory), Some(sqlite))
        })
    }

    /// An errand that was handed out once, and perhaps to somebody else since.
    fn some_held(&mut self) -> Option<Pair<Held>> {
        if self.held.is_empty() || self.chance.one_in(3) {
            return None;
        }
        let at = self.chance.index(self.held.len());
        Some(match self.chance.one_in(4) {
            true => self.held[at].clone(),
            false => self.held.swap_remove(at),
        })
    }
}

async fn compare(seed: u64, steps: usize) {
    let place = Place::new();
    let mut both = Both {
        memory: MemoryStore::new(),
        sqlite: place.open().await,
        chance: Chance(seed),
        now: at(1000),
        held: Vec::new(),
        jobs: Vec::new(),
        claims: Vec::new(),
        bookmarks: Vec::new(),
        counted: 0,
        log: Vec::new(),
    };
    for step in 0..steps {
        both.now = at(1000 + i64::try_from(step).unwrap());
        match both.chance.below(16) {
            0 | 1 => both.create().await,
            2 | 3 => both.claim().await,
            4..=6 => both.commit().await,
            7..=9 => both.send().await,
            10 => both.take().await,
            11 | 12 => both.give_back().await,
            13 => both.jobs().await,
            14 => both.define().await,
            _ => both.rest().await,
        }
        both.look().await;
    }
}

/// How many histories are tried, unless somebody wants more.
const HISTORIES: u64 = 6;

#[tokio::test]
async fn a_store_in_a_file_does_what_one_in_memory_does() {
    let histories = std::env::var("LOCKWORK_HISTORIES");
    let histories = histories.map_or(HISTORIES, |many| many.parse().unwrap());
    for seed in 1..=histories {
        compare(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15), 500).await;
    }
}
