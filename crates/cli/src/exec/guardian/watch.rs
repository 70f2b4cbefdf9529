//! When the command must be asked to end, and when it must be dead. Knows the time as it is told.

use lockwork::Instant;
use nix::sys::signal::Signal;
use std::time::Duration;

/// The longest a kill is sent ahead of the moment at which all must be dead. A busy machine takes
/// its time to run the guardian, and those that it killed.
const LONGEST_LEAD: Duration = Duration::from_millis(500);

#[derive(Debug)]
pub(super) struct Watch {
    /// Until when the lock is good, where that needs news.
    until: Option<Instant>,
    /// How long the command has between SIGTERM and SIGKILL.
    grace: Duration,
    /// How long before `until` SIGTERM is sent: a grace before SIGKILL, or less on a short lease.
    warning: Duration,
    /// How long before `until` SIGKILL is sent: it takes a moment to be heard of and done.
    lead: Duration,
    /// Whether SIGTERM was sent for this `until`.
    warned: bool,
    /// When to kill, whatever else.
    kill_at: Option<Instant>,
    killed: bool,
    command_ended: bool,
    /// Whether the command ended later than it was told to.
    cut: bool,
}

impl Watch {
    /// Of a lock that is good `until` then, from `now` on.
    pub(super) fn new(now: Instant, until: Option<Instant>, grace: Duration) -> Self {
        let lease = until.map_or(Duration::MAX, |until| until.saturating_duration_since(now));
        let lead = LONGEST_LEAD.min(lease / 10);
        Self {
            until,
            grace,
            warning: grace.saturating_add(lead).min(lease / 3),
            lead,
            warned: false,
            kill_at: None,
            killed: false,
            command_ended: false,
            cut: false,
        }
    }

    /// The lock is good for longer.
    pub(super) fn renewed(&mut self, until: Instant) {
        self.until = Some(until);
        self.warned = false;
    }

    /// The lock is lost, or nobody keeps it.
    pub(super) fn end_at_once(&mut self) {
        self.kill_at = Some(Instant::from_nanos(0));
    }

    /// The command itself ended; others of its group may be left.
    pub(super) fn command_ended(&mut self, now: Instant) {
        self.command_ended = true;
        self.warned = false;
        let kill_at = now + self.grace;
        self.kill_at = Some(self.kill_at.map_or(kill_at, |at| at.min(kill_at)));
    }

    /// What to send now.
    pub(super) fn due(&mut self, now: Instant) -> Option<Signal> {
        if self.killed || self.kill_time().is_some_and(|at| at <= now) {
            self.killed = true;
            self.cut |= !self.command_ended;
            return Some(Signal::SIGKILL);
        }
        if !self.warned && self.term_time().is_some_and(|at| at <= now) {
            self.warned = true;
            self.cut |= !self.command_ended;
            return Some(Signal::SIGTERM);
        }
        None
    }

    /// When to ask again what is due.
    pub(super) fn next(&self) -> Option<Instant> {
        let kill = self.kill_time().filter(|_| !self.killed);
        let term = self.term_time().filter(|_| !self.warned && !self.killed);
        kill.into_iter().chain(term).min()
    }

    /// Whether the command was made to end for the sake of the lock.
    pub(super) const fn has_cut(&self) -> bool {
        self.cut
    }

    fn kill_time(&self) -> Option<Instant> {
        let by_lock = self.until.map(|until| until - self.lead);
        by_lock.into_iter().chain(self.kill_at).min()
    }

    fn term_time(&self) -> Option<Instant> {
        if self.command_ended {
            return Some(Instant::from_nanos(0));
        }
        self.until.map(|until| until - self.warning)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LEASE: u64 = 9000;
    const GRACE: u64 = 1000;
    const LEAD: u64 = 500;

    fn at(millis: u64) -> Instant {
        Instant::from_nanos(millis * 1_000_000)
    }

    fn leased(grace: u64) -> Watch {
        Watch::new(at(0), Some(at(LEASE)), Duration::from_millis(grace))
    }

    #[test]
    fn the_command_is_asked_to_end_a_grace_before_it_is_killed() {
        let mut watch = leased(GRACE);
        let asked = LEASE - LEAD - GRACE;
        assert_eq!(watch.due(at(asked - 1)), None);
        assert_eq!(watch.next(), Some(at(asked)));
        assert_eq!(watch.due(at(asked)), Some(Signal::SIGTERM));
        assert_eq!(watch.due(at(asked + 1)), None);
        assert!(watch.has_cut());
        assert_eq!(watch.next(), Some(at(asked + GRACE)));
        assert_eq!(watch.due(at(asked + GRACE)), Some(Signal::SIGKILL));
    }

    #[test]
    fn the_command_is_dead_when_the_lock_ends() {
        let mut watch = leased(0);
        assert_eq!(watch.next(), Some(at(LEASE - LEAD)));
        assert_eq!(watch.due(at(LEASE - LEAD - 1)), None);
        assert_eq!(watch.due(at(LEASE - LEAD)), Some(Signal::SIGKILL));
        assert_eq!(watch.next(), None);
        assert_eq!(watch.due(at(LEASE)), Some(Signal::SIGKILL));
    }

    #[test]
    fn a_long_grace_takes_at_most_a_third_of_the_lease() {
        let mut watch = leased(60_000);
        assert_eq!(watch.due(at(5999)), None);
        assert_eq!(watch.due(at(6000)), Some(Signal::SIGTERM));
    }

    #[test]
    fn a_renewed_lock_is_good_for_longer() {
        let mut watch = leased(GRACE);
        watch.renewed(at(2 * LEASE));
        assert_eq!(watch.due(at(LEASE)), None);
        assert!(!watch.has_cut());
        assert_eq!(watch.next(), Some(at(2 * LEASE - LEAD - GRACE)));
    }

    #[test]
    fn a_lost_lock_kills_at_once() {
        let mut watch = leased(GRACE);
        watch.end_at_once();
        assert_eq!(watch.due(at(1)), Some(Signal::SIGKILL));
        assert!(watch.has_cut());
    }

    #[test]
    fn a_lock_that_needs_no_news_has_no_end() {
        let mut watch = Watch::new(at(0), None, Duration::from_secs(5));
        assert_eq!(watch.next(), None);
        assert_eq!(watch.due(at(1 << 40)), None);
    }

    #[test]
    fn those_left_behind_are_asked_to_end_and_killed_after_the_grace() {
        let mut watch = Watch::new(at(0), None, Duration::from_millis(GRACE));
        watch.command_ended(at(100));
        assert_eq!(watch.due(at(100)), Some(Signal::SIGTERM));
        assert_eq!(watch.due(at(101)), None);
        assert_eq!(watch.next(), Some(at(100 + GRACE)));
        assert_eq!(watch.due(at(100 + GRACE)), Some(Signal::SIGKILL));
        assert!(!watch.has_cut());
    }

    #[test]
    fn those_left_behind_do_not_outlive_the_lock() {
        let mut watch = leased(5000);
        watch.command_ended(at(LEASE - LEAD - 100));
        assert_eq!(watch.due(at(LEASE - LEAD - 100)), Some(Signal::SIGTERM));
        assert_eq!(watch.due(at(LEASE - LEAD)), Some(Signal::SIGKILL));
    }
}
