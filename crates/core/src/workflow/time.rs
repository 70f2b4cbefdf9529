//! When something happened or shall happen.

use serde::{Deserialize, Serialize};
use std::time::Duration;

/// A moment: milliseconds since the beginning of 1970, by the clock of whoever said so. In JSON a number.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Time(i64);

impl Time {
    /// So many milliseconds after the beginning of 1970.
    #[must_use]
    pub const fn from_millis(millis: i64) -> Self {
        Self(millis)
    }

    /// Milliseconds since the beginning of 1970.
    #[must_use]
    pub const fn as_millis(self) -> i64 {
        self.0
    }

    /// So much later, or the last moment there is. Parts of a millisecond count as a whole one, so that
    /// nothing is due too early.
    #[must_use]
    pub fn after(self, time: Duration) -> Self {
        let millis = time.as_nanos().div_ceil(1_000_000);
        Self(self.0.saturating_add(millis.try_into().unwrap_or(i64::MAX)))
    }

    /// How much later this is, or nothing.
    #[must_use]
    pub fn since(self, earlier: Self) -> Duration {
        Duration::from_millis(self.0.saturating_sub(earlier.0).try_into().unwrap_or(0))
    }
}
