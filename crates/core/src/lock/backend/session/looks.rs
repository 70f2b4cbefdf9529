//! How old an answer may be that a session reads while it waits: looks at the clock, of which each says that what had
//! come before the last one is read by now.
//!
//! That is so as long as the process is given a processor between two looks. One that stood still may stand still again
//! before it reads what came meanwhile, so after a gap a few looks say nothing.

use crate::lock::Instant;
use std::time::Duration;

/// So many looks after a gap say nothing.
const DAZED: u32 = 3;

/// What the looks have shown so far.
#[derive(Debug)]
pub(super) struct Looks {
    every: Duration,
    /// What is read now came after this.
    heard_since: Instant,
    looked_at: Instant,
    last: Instant,
    dazed: u32,
}

impl Looks {
    /// Begins with nothing that came before.
    pub(super) const fn new(now: Instant, every: Duration) -> Self {
        Self {
            every,
            heard_since: now,
            looked_at: now,
            last: now,
            dazed: 0,
        }
    }

    /// One more look.
    pub(super) fn look(&mut self, now: Instant) {
        if now.saturating_duration_since(self.last) > self.every * 2 {
            self.dazed = DAZED;
        }
        self.last = now;
        if self.dazed > 0 {
            self.dazed -= 1;
            return;
        }
        self.heard_since = self.looked_at;
        self.looked_at = now;
    }

    /// What is read now is not older than this.
    pub(super) const fn heard_since(&self) -> Instant {
        self.heard_since
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const EVERY: Duration = Duration::from_millis(100);

    /// What the looks at these milliseconds have shown.
    fn heard_since(looks: &[u64]) -> u64 {
        let at = |millis: u64| Instant::from_nanos(millis * 1_000_000);
        let mut shown = Looks::new(at(0), EVERY);
        looks.iter().for_each(|millis| shown.look(at(*millis)));
        shown.heard_since().as_nanos() / 1_000_000
    }

    #[test]
    fn what_is_read_came_after_the_last_look_but_one() {
        assert_eq!(heard_since(&[]), 0);
        assert_eq!(heard_since(&[100]), 0);
        assert_eq!(heard_since(&[100, 200]), 100);
        assert_eq!(heard_since(&[100, 200, 350]), 200);
    }

    #[test]
    fn what_came_while_the_process_stood_still_is_as_old_as_that() {
        assert_eq!(heard_since(&[100, 200, 5_000]), 100);
        assert_eq!(heard_since(&[100, 200, 5_000, 5_100]), 100);
        assert_eq!(heard_since(&[100, 200, 5_000, 5_100, 5_200]), 100);
    }

    #[test]
    fn who_stands_still_again_is_dazed_again() {
        assert_eq!(heard_since(&[100, 200, 5_000, 5_100, 6_000, 6_100]), 100);
    }

    #[test]
    fn in_time_it_is_awake_again() {
        let looks = [100, 200, 5_000, 5_100, 5_200, 5_300, 5_400];
        assert_eq!(heard_since(&looks[..6]), 200);
        assert_eq!(heard_since(&looks), 5_300);
    }
}
