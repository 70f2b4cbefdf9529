//! Whether this process stood still. One that is given no processor for a good part of a lease cannot renew it: that says
//! something about the machine, and nothing about locks.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering::Relaxed},
    },
    thread,
    time::{Duration, Instant},
};

/// How often it is looked.
const LOOK: Duration = Duration::from_millis(5);

/// Looks for as long as it is there.
#[derive(Debug, Default)]
pub struct Stalls {
    seen: Arc<Seen>,
}

#[derive(Debug)]
struct Seen {
    begun: Instant,
    /// When it was looked last, in milliseconds.
    looked: AtomicU64,
    longest: AtomicU64,
    is_over: AtomicBool,
}

impl Default for Seen {
    fn default() -> Self {
        Self {
            begun: Instant::now(),
            looked: AtomicU64::new(0),
            longest: AtomicU64::new(0),
            is_over: AtomicBool::new(false),
        }
    }
}

impl Seen {
    fn look(&self) {
        let now = u64::try_from(self.begun.elapsed().as_millis()).unwrap_or(u64::MAX);
        let gap = now.saturating_sub(self.looked.fetch_max(now, Relaxed));
        self.longest.fetch_max(gap, Relaxed);
    }
}

impl Stalls {
    /// Begins to look, from a thread of its own.
    pub fn watch() -> Self {
        let stalls = Self::default();
        let seen = Arc::clone(&stalls.seen);
        thread::spawn(move || {
            while !seen.is_over.load(Relaxed) {
                thread::sleep(LOOK);
                seen.look();
            }
        });
        stalls
    }

    /// Panics unless `fact`: as one that was late, if the process stood still for a quarter of `lease`.
    pub fn check(&self, fact: bool, lease: Duration, what: &str) {
        // Whoever else looks may not have been given the processor again yet.
        self.seen.look();
        let longest = Duration::from_millis(self.seen.longest.load(Relaxed));
        assert!(
            fact || longest < lease / 4,
            "{what}, too late: this process stood still for {longest:?} of a lease of {lease:?}"
        );
        assert!(fact, "{what}");
    }
}

impl Drop for Stalls {
    fn drop(&mut self) {
        self.seen.is_over.store(true, Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LEASE: Duration = Duration::from_secs(1);

    fn said(stalls: &Stalls) -> String {
        let panic = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            stalls.check(false, LEASE, "it was lost");
        }));
        *panic
            .expect_err("it is none")
            .downcast()
            .expect("a sentence")
    }

    #[test]
    fn who_stood_still_is_late_and_others_are_wrong() {
        let stalls = Stalls::default();
        stalls.check(true, LEASE, "it was lost");
        assert_eq!(said(&stalls), "it was lost");
        stalls.seen.longest.store(300, Relaxed);
        assert!(said(&stalls).contains("too late"));
        stalls.check(true, LEASE, "it was lost");
    }
    #[test]
    fn whoever_checks_has_looked_himself() {
        let unwatched = Stalls::default();
        thread::sleep(LEASE / 3);
        assert!(said(&unwatched).contains("too late"));
    }
}
