//! Letting others have their turn.
//!
//! Nothing tells who waits in another process, and whoever has just given a lock back is always the
//! quickest to ask for it again. So where others were seen to want a lock, whoever gives it back does not ask
//! again at once.

use lockwork_core::lock::Instant;
use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

/// For so long others count that were seen.
const REMEMBERED: Duration = Duration::from_secs(10);

/// About half as long as others wait on average before they ask again.
const REST: Duration = Duration::from_millis(250);

/// Of so many locks it is known; then all is forgotten.
const MOST: usize = 10_000;

#[derive(Debug, Default)]
pub(crate) struct Turns(Mutex<HashMap<Arc<str>, Turn>>);

#[derive(Debug)]
struct Turn {
    /// When somebody else was last seen to have the lock, or to have had it.
    others_at: Instant,
    /// When we last gave it back since.
    released_at: Option<Instant>,
}

impl Turns {
    /// Somebody else has this, or has had it.
    pub(crate) fn others(&self, blob: &Arc<str>) {
        let mut turns = self.table();
        if turns.len() >= MOST {
            turns.clear();
        }
        let turn = turns.entry(blob.clone()).or_insert_with(|| Turn {
            others_at: Instant::now(),
            released_at: None,
        });
        turn.others_at = Instant::now();
    }

    /// We have given it back.
    pub(crate) fn released(&self, blob: &str) {
        let mut turns = self.table();
        match turns.get_mut(blob) {
            Some(turn) if turn.others_at.elapsed() < REMEMBERED => {
                turn.released_at = Some(Instant::now());
            }
            _ => drop(turns.remove(blob)),
        }
    }

    /// For how much longer others go first.
    pub(crate) fn rest(&self, blob: &str) -> Option<Duration> {
        let released_at = self.table().get(blob)?.released_at?;
        let rest = REST.checked_sub(released_at.elapsed())?;
        (!rest.is_zero()).then_some(rest)
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
    fn whoever_is_alone_need_not_rest() {
        let turns = Turns::default();
        turns.released("x");
        assert_eq!(turns.rest("x"), None);
    }

    #[test]
    fn whoever_gives_back_what_others_want_rests_for_a_while() {
        let (turns, blob) = (Turns::default(), "x".into());
        turns.others(&blob);
        assert_eq!(turns.rest("x"), None, "nothing was given back yet");
        turns.released("x");
        assert!(turns.rest("x").is_some_and(|rest| rest <= REST));
        assert_eq!(turns.rest("y"), None);
    }
}
