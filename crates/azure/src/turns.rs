//! Letting others have their turn.
//!
//! Nothing tells who waits in another process, and whoever has just given a lock back is always the
//! quickest to ask for it again. So a process that gives back what it has seen others hold, or what it has
//! had again and again for a while, does not ask for it at once.

use lockwork_core::lock::Instant;
use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

/// For so long others count that were seen.
const REMEMBERED: Duration = Duration::from_secs(10);

/// For so long a lock may be taken again and again where nobody was seen.
const RUN: Duration = Duration::from_secs(1);

/// Others could have come in between, if there were that long.
const GAP: Duration = Duration::from_millis(100);

/// About half as long as others wait on average before they ask again.
const REST: Duration = Duration::from_millis(300);

/// Of so many locks it is known; then all is forgotten.
const MOST: usize = 10_000;

#[derive(Debug, Default)]
pub(crate) struct Turns(Mutex<HashMap<Arc<str>, Turn>>);

#[derive(Debug)]
struct Turn {
    /// Since when we have taken it again and again.
    since: Instant,
    /// When somebody else was last seen to have the lock, or to have had it.
    others_at: Option<Instant>,
    /// When we last gave it back.
    released_at: Option<Instant>,
    /// Until then others go first.
    rests_until: Option<Instant>,
}

impl Turns {
    /// It is ours.
    pub(crate) fn granted(&self, blob: &Arc<str>) {
        self.note(blob, |turn| {
            if turn.released_at.is_none_or(|at| at.elapsed() > GAP) {
                turn.since = Instant::now();
            }
        });
    }

    /// Somebody else has this, or has had it.
    pub(crate) fn others(&self, blob: &Arc<str>) {
        self.note(blob, |turn| turn.others_at = Some(Instant::now()));
    }

    /// We have given it back.
    pub(crate) fn released(&self, blob: &Arc<str>) {
        self.note(blob, |turn| {
            let now = Instant::now();
            let others = turn.others_at.is_some_and(|at| at.elapsed() < REMEMBERED);
            turn.released_at = Some(now);
            turn.rests_until = (others || turn.since.elapsed() >= RUN).then(|| now + REST);
        });
    }

    /// For how much longer others go first.
    pub(crate) fn rest(&self, blob: &str) -> Option<Duration> {
        let rest = self.table().get(blob)?.rests_until?.remaining();
        (!rest.is_zero()).then_some(rest)
    }

    fn note(&self, blob: &Arc<str>, change: impl FnOnce(&mut Turn)) {
        let mut turns = self.table();
        if turns.len() >= MOST && !turns.contains_key(blob) {
            turns.clear();
        }
        change(turns.entry(blob.clone()).or_insert_with(|| Turn {
            since: Instant::now(),
            others_at: None,
            released_at: None,
            rests_until: None,
        }));
    }

    fn table(&self) -> MutexGuard<'_, HashMap<Arc<str>, Turn>> {
        // Nothing that can panic runs under this lock.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_takes_it_now_and_then_and_alone_need_not_rest() {
        let (turns, blob) = (Turns::default(), "x".into());
        turns.granted(&blob);
        turns.released(&blob);
        assert_eq!(turns.rest("x"), None);
    }

    #[test]
    fn whoever_gives_back_what_others_want_rests_for_a_while() {
        let (turns, blob) = (Turns::default(), "x".into());
        turns.others(&blob);
        turns.granted(&blob);
        assert_eq!(turns.rest("x"), None, "nothing was given back yet");
        turns.released(&blob);
        assert!(turns.rest("x").is_some_and(|rest| rest <= REST));
        assert_eq!(turns.rest("y"), None);
    }

    #[test]
    fn whoever_takes_it_again_and_again_rests_after_a_second() {
        let (turns, blob) = (Turns::default(), "x".into());
        let began = Instant::now();
        while turns.rest("x").is_none() {
            assert!(began.elapsed() < RUN * 2, "too late");
            turns.granted(&blob);
            turns.released(&blob);
            std::thread::sleep(Duration::from_millis(1));
        }
        assert!(began.elapsed() >= RUN);
    }
}
