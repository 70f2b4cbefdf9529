//! Looking for oneself: what nobody tells, and what was not heard.

use crate::place::Place;
use std::{
    path::Path,
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
    time::{Duration, Instant},
};

/// How often directories are looked at whose losses nobody tells.
const OFTEN: Duration = Duration::from_millis(50);
/// How often the others are: a directory moved away together with its parent is not told.
const SELDOM: Duration = Duration::from_secs(1);

struct Looked {
    place: Weak<Place>,
    told: bool,
}

static PLACES: Mutex<Vec<Looked>> = Mutex::new(Vec::new());

/// From now on, looks after `place`; seldom, if its losses are `told`.
pub(super) fn include(place: &Arc<Place>, told: bool) {
    let looked = Looked {
        place: Arc::downgrade(place),
        told,
    };
    let mut places = places();
    places.retain(|other| !other.place.ptr_eq(&looked.place));
    places.push(looked);
}

/// When to look for the first time.
pub(super) fn begin() -> Rounds {
    Rounds {
        seldom: Instant::now() + SELDOM,
        often: Instant::now() + OFTEN,
    }
}

/// When to look again.
pub(super) struct Rounds {
    seldom: Instant,
    often: Instant,
}

impl Rounds {
    /// Looks where it is time to, and says how long there is nothing to do; `None` for ever.
    pub(super) fn go(&mut self) -> Option<Duration> {
        let now = Instant::now();
        if self.seldom <= now {
            self.seldom = now + SELDOM;
            for place in of(true) {
                // What is told of a file is not told of the directory's parents.
                if !place.is_itself() {
                    place.check_all();
                }
            }
        }
        if self.often <= now {
            self.often = now + OFTEN;
            for place in of(false) {
                place.look();
            }
        }
        let next = match count() {
            (0, 0) => return None,
            (_, 0) => self.seldom,
            (0, _) => self.often,
            _ => self.seldom.min(self.often),
        };
        Some(next.saturating_duration_since(now))
    }
}

/// The highest number with which any client of this process holds the file at `path`.
pub(super) fn highest(path: &Path) -> u64 {
    let everywhere = of(true).into_iter().chain(of(false));
    let highest = everywhere.map(|place| place.holds.highest(path));
    highest.max().unwrap_or(0)
}

/// The places that are told of losses, or that are not.
fn of(told: bool) -> Vec<Arc<Place>> {
    let places = places();
    let wanted = places.iter().filter(|looked| looked.told == told);
    wanted.filter_map(|looked| looked.place.upgrade()).collect()
}

/// How many places are told of losses, and how many are not.
fn count() -> (usize, usize) {
    let mut places = places();
    places.retain(|looked| looked.place.strong_count() > 0);
    let told = places.iter().filter(|looked| looked.told).count();
    (told, places.len() - told)
}

fn places() -> MutexGuard<'static, Vec<Looked>> {
    // Nothing that can panic runs under this lock.
    PLACES.lock().unwrap_or_else(PoisonError::into_inner)
}
