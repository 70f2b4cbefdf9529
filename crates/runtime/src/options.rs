//! How a runtime behaves, where there is a choice.

use std::time::Duration;

/// How long a node keeps what it was handed, without saying anything.
pub(crate) const HOLD: Duration = Duration::from_secs(30);

/// How a runtime behaves.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Options {
    /// How many bursts run at once.
    pub bursts: usize,
    /// How many jobs run at once.
    pub jobs: usize,
    /// How long a request waits for its turn with an instance.
    pub patience: Duration,
    /// How long a stimulus waits for somebody who waits for it.
    pub stimulus_waits: Duration,
    /// How long dead letters are kept.
    pub dead_letters_kept: Duration,
    /// How often an errand is tried.
    pub attempts: u32,
    /// How long a node that is about to end waits for its bursts to come to the end of their steps.
    pub drain: Duration,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            bursts: 64,
            jobs: 16,
            patience: Duration::from_secs(600),
            stimulus_waits: Duration::from_secs(600),
            dead_letters_kept: Duration::from_secs(7 * 86_400),
            attempts: 3,
            drain: Duration::from_secs(30),
        }
    }
}
