//! Keys this process lets others have first.
//!
//! Whoever gives back what others wait for could be back before they have woken up, again and
//! again. So it stays away for about as long as they need to come.

use crate::lock::Instant;
use rand::RngExt;
use std::{
    collections::HashMap,
    hash::Hash,
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

/// They must be woken up and come; a round trip can be much shorter than that.
const SHORTEST: Duration = Duration::from_millis(1);

/// A round trip that took longer says nothing of the next ones.
const LONGEST: Duration = Duration::from_millis(250);

/// Of a key that is never asked for again an entry stays. More than so many are looked through.
const MANY: usize = 1024;

#[derive(Debug)]
pub(super) struct Rests<K>(Mutex<HashMap<K, Instant>>);

impl<K: Eq + Hash> Rests<K> {
    /// Stays away from `key` for two round trips and a little more, by chance.
    pub(super) fn begin(&self, key: K, round_trip: Duration) {
        let least = (round_trip * 2).clamp(SHORTEST, LONGEST);
        let pause = rand::rng().random_range(least..=least * 2);
        let mut rests = self.lock();
        if rests.len() >= MANY {
            rests.retain(|_, until| !until.has_passed());
        }
        rests.insert(key, Instant::now() + pause);
    }

    /// Until when to stay away from `key`.
    pub(super) fn until(&self, key: &K) -> Option<Instant> {
        let mut rests = self.lock();
        let until = *rests.get(key)?;
        if until.has_passed() {
            rests.remove(key);
            return None;
        }
        Some(until)
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<K, Instant>> {
        // Nothing that can panic runs under this lock.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<K> Default for Rests<K> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}
