//! The next number of a lock: what its token is made of.
//!
//! The larger of the last number plus one and the milliseconds since 1970. While numbers keep
//! behind the clock, a power cut that loses the last of them does no harm: after it the clock says
//! more. Numbers further ahead of the clock than a machine needs to start again (many grants in a
//! millisecond, or a clock set back) must be on the disk before they are given out. So that not
//! each of them waits for the disk, a *ceiling* far above is written once and synced; after a
//! power cut counting goes on above it.

use crate::record::Record;

/// How far above a number the ceiling is put: one wait for the disk in so many numbers.
const HEADROOM: u64 = 1 << 24;

/// So many milliseconds ahead of the clock is as good as behind it: no machine starts again sooner.
const SLACK: u64 = 100;

/// A number to be given out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Next {
    pub(crate) counter: u64,
    pub(crate) ceiling: u64,
    /// Whether this must be on the disk first.
    pub(crate) sync: bool,
}

/// The number after `last`, at `now` (milliseconds), since the start of the machine called `boot`
/// (zero if that is not known), and above `floor`.
pub(crate) fn next(last: Option<&Record>, floor: u64, now: u64, boot: u64) -> Next {
    // What was not synced in this run of the machine is in its memory all the same.
    let same_boot = |last: &&Record| boot != 0 && last.boot == boot;
    let (used, ceiling) = match last {
        Some(last) if same_boot(&last) => (last.counter, last.ceiling),
        Some(last) => (last.counter.max(last.ceiling), 0),
        None => (0, 0),
    };
    let counter = (used.max(floor) + 1).max(now);
    if counter <= now + SLACK || counter <= ceiling {
        return Next {
            counter,
            ceiling,
            sync: false,
        };
    }
    // Without a way to tell a restart, each number ahead of the clock goes to the disk by itself.
    let headroom = if boot == 0 { 0 } else { HEADROOM };
    Next {
        counter,
        ceiling: counter + headroom,
        sync: true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::tests::record;

    const NOW: u64 = 1_760_000_000_000;
    const BOOT: u64 = 8;

    fn last(counter: u64, ceiling: u64) -> Record {
        Record {
            counter,
            ceiling,
            boot: BOOT,
            ..record(counter)
        }
    }

    #[test]
    fn a_new_lock_begins_at_the_clock_or_above_the_floor() {
        assert_eq!(next(None, 0, NOW, BOOT).counter, NOW);
        let above = next(None, NOW + 500, NOW, BOOT);
        assert_eq!((above.counter, above.sync), (NOW + 501, true));
    }

    #[test]
    fn a_number_behind_the_clock_or_just_ahead_needs_no_disk() {
        for (before, counter) in [(NOW - 9, NOW), (NOW, NOW + 1), (NOW + 99, NOW + 100)] {
            let next = next(Some(&last(before, 0)), 0, NOW, BOOT);
            assert_eq!((next.counter, next.sync), (counter, false));
        }
        assert!(next(Some(&last(NOW + 100, 0)), 0, NOW, BOOT).sync);
    }

    #[test]
    fn of_many_numbers_ahead_of_the_clock_one_waits_for_the_disk() {
        let mut before = last(NOW, 0);
        let mut synced = 0;
        for _ in 0..100_000 {
            let next = next(Some(&before), 0, NOW, BOOT);
            assert_eq!(next.counter, before.counter + 1);
            synced += u32::from(next.sync);
            before = last(next.counter, next.ceiling);
        }
        assert_eq!(synced, 1);
    }

    #[test]
    fn after_a_restart_counting_goes_on_above_what_may_have_been_given_out() {
        let on_disk = last(NOW + 1, NOW + 1000);
        let next = next(Some(&on_disk), 0, NOW, BOOT + 1);
        assert_eq!((next.counter, next.sync), (NOW + 1001, true));
    }

    #[test]
    fn a_clock_set_back_does_not_take_numbers_back() {
        let next = next(Some(&last(NOW, 0)), 0, NOW - 3_600_000, BOOT);
        assert_eq!((next.counter, next.sync), (NOW + 1, true));
    }

    #[test]
    fn where_restarts_cannot_be_told_each_number_ahead_is_synced() {
        let first = next(Some(&last(NOW + SLACK, 0)), 0, NOW, 0);
        assert!(first.sync);
        let mut before = last(first.counter, first.ceiling);
        before.boot = 0;
        assert!(next(Some(&before), 0, NOW, 0).sync);
    }
}
