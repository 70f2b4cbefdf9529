//! How a runtime behaves, where there is a choice.

use crate::ids;
use std::time::Duration;

/// A shorter hold would be over before a store that is busy has heard that it goes on.
const SHORTEST_HOLD: Duration = Duration::from_millis(500);

/// How a runtime behaves.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Options {
    /// What this node is called, among those that share its store. Drawn, unless said otherwise.
    pub node: String,
    /// How many bursts run at once.
    pub bursts: usize,
    /// How many jobs run at once.
    pub jobs: usize,
    /// How long this node keeps what it was handed, errands and jobs, without saying anything. It says so three times as
    /// often; what a node that died had in hand is for others after this long. At least half a second: what is less is
    /// taken for that. A node that stands still for longer than this may find its work done by another one.
    pub hold: Duration,
    /// How long a request waits for its turn with an instance.
    pub patience: Duration,
    /// How long a stimulus waits for somebody who waits for it.
    pub stimulus_waits: Duration,
    /// How long dead letters are kept.
    pub dead_letters_kept: Duration,
    /// How long instances that are over are kept, with their journals. For ever, unless said otherwise.
    pub finished_kept: Option<Duration>,
    /// How often an errand is tried.
    pub attempts: u32,
    /// How long a node that is about to end waits for its bursts to come to the end of their steps.
    pub drain: Duration,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            node: format!("node-{}", ids::random()),
            bursts: 64,
            jobs: 16,
            hold: Duration::from_secs(30),
            patience: Duration::from_secs(600),
            stimulus_waits: Duration::from_secs(600),
            dead_letters_kept: Duration::from_secs(7 * 86_400),
            finished_kept: None,
            attempts: 3,
            drain: Duration::from_secs(30),
        }
    }
}

impl Options {
    /// How long this node keeps what it was handed, in fact.
    pub(crate) fn held(&self) -> Duration {
        self.hold.max(SHORTEST_HOLD)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Clock, MemoryStore, RuntimeBuilder, SystemClock};
    use std::sync::Arc;

    /// Whether a node that is told `hold` keeps what it was handed for as long as `wanted`.
    fn is_held(hold: Duration, wanted: Duration) -> bool {
        let options = Options {
            hold,
            ..Options::default()
        };
        let store = Arc::new(MemoryStore::new());
        let runtime = RuntimeBuilder::new(store).options(options).build();
        let (before, until) = (SystemClock.now(), runtime.parts.runner.held_until());
        // However much time passes in between.
        until.since(before) >= wanted && until.since(SystemClock.now()) <= wanted
    }

    #[test]
    fn a_node_keeps_what_it_was_handed_for_as_long_as_it_is_told() {
        let usual = Options::default().hold;
        assert!(is_held(usual, Duration::from_secs(30)));
        assert!(is_held(Duration::from_secs(7), Duration::from_secs(7)));
    }

    #[test]
    fn a_hold_is_never_shorter_than_half_a_second() {
        assert!(is_held(Duration::ZERO, Duration::from_millis(500)));
    }
}
