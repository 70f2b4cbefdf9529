//! How many cases run at once: as many as the machine bears. Most of what a case does is wait, for a lease to end say,
//! and waiting costs nothing; but limits are for a machine that wakes whoever's time has come. Those that wait for many
//! seconds have places of their own, lest they keep others from the machine that they do not use.

use std::{
    sync::{
        Arc, Condvar, Mutex, PoisonError, Weak,
        atomic::{AtomicU64, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

/// So many may always run.
const ALWAYS: usize = 4;

/// So many never do more than wait for each other.
const MOST: usize = 8;

/// So many who wait for many seconds are there besides.
const ASIDE: usize = 8;

/// Another one may begin while sleepers wake no later than this.
const CALM: Duration = Duration::from_millis(1);

/// How long a sleeper sleeps, to see how late it wakes.
const NAP: Duration = Duration::from_millis(1);

/// After how long somebody who waits for a place looks again.
const LOOK: Duration = Duration::from_millis(10);

/// Where cases run.
#[derive(Debug)]
pub(crate) struct Room {
    /// So many places it always has.
    always: usize,
    /// So many it has on a machine that bears them.
    most: usize,
    inside: Mutex<usize>,
    left: Condvar,
    /// How late sleepers woke of late, in nanoseconds.
    late: AtomicU64,
}

impl Room {
    fn with(always: usize, most: usize) -> Self {
        Self {
            always,
            most,
            inside: Mutex::new(0),
            left: Condvar::new(),
            late: AtomicU64::new(0),
        }
    }

    /// One for those who only wait.
    pub(crate) fn aside() -> Arc<Self> {
        Arc::new(Self::with(ASIDE, ASIDE))
    }

    /// One that is watched for as long as it is there.
    pub(crate) fn new() -> Arc<Self> {
        let room = Arc::new(Self::with(ALWAYS, MOST));
        let watched = Arc::downgrade(&room);
        thread::spawn(move || watch(&watched));
        room
    }

    /// So many threads can use both.
    pub(crate) const fn most() -> usize {
        MOST + ASIDE
    }

    /// Waits for a place.
    pub(crate) fn enter(self: &Arc<Self>) -> Place {
        let mut inside = self.inside.lock().unwrap_or_else(PoisonError::into_inner);
        while !self.has_place(*inside) {
            let looked = self.left.wait_timeout(inside, LOOK);
            inside = looked.unwrap_or_else(PoisonError::into_inner).0;
        }
        *inside += 1;
        if *inside > self.always {
            // What this one costs is seen before the next one comes.
            self.see(CALM * 4);
        }
        Place(Arc::clone(self))
    }

    fn has_place(&self, inside: usize) -> bool {
        let late = Duration::from_nanos(self.late.load(Ordering::Relaxed));
        inside < self.always || (inside < self.most && late <= CALM)
    }

    /// Somebody woke so late. What was longer ago counts less.
    fn see(&self, late: Duration) {
        let late = u64::try_from(late.as_nanos()).unwrap_or(u64::MAX);
        let before = self.late.load(Ordering::Relaxed);
        self.late
            .store(late.max(before - before / 50), Ordering::Relaxed);
    }
}

fn watch(room: &Weak<Room>) {
    while let Some(room) = room.upgrade() {
        let begun = Instant::now();
        thread::sleep(NAP);
        room.see(begun.elapsed().saturating_sub(NAP));
    }
}

/// A place in the room, for as long as it is kept.
#[derive(Debug)]
pub(crate) struct Place(Arc<Room>);

impl Drop for Place {
    fn drop(&mut self) {
        let mut inside = self.0.inside.lock().unwrap_or_else(PoisonError::into_inner);
        *inside -= 1;
        self.0.left.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_busy_machine_has_few_places() {
        let room = Room::with(ALWAYS, MOST);
        room.see(CALM * 2);
        assert!(room.has_place(ALWAYS - 1));
        assert!(!room.has_place(ALWAYS));
    }

    #[test]
    fn a_calm_machine_has_more_and_not_any_number() {
        let room = Room::with(ALWAYS, MOST);
        assert!(room.has_place(MOST - 1));
        assert!(!room.has_place(MOST));
    }

    #[test]
    fn lateness_is_forgotten_after_a_while() {
        let room = Room::with(ALWAYS, MOST);
        room.see(CALM * 4);
        (0..100).for_each(|_| room.see(Duration::ZERO));
        assert!(room.has_place(ALWAYS));
    }

    #[test]
    fn a_place_that_is_left_is_free() {
        let room = Arc::new(Room::with(ALWAYS, MOST));
        room.see(Duration::from_secs(3600));
        let places: Vec<_> = (0..ALWAYS).map(|_| room.enter()).collect();
        assert!(!room.has_place(ALWAYS));
        drop(places);
        drop(room.enter());
        assert_eq!(*room.inside.lock().unwrap(), 0);
    }
}
