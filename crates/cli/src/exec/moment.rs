//! A point in time that another process understands.

use lockwork::Instant;
#[cfg(not(any(target_os = "linux", target_os = "android")))]
use std::time::{Duration, SystemTime};

/// A number for it.
#[cfg(any(target_os = "linux", target_os = "android"))]
pub(super) const fn to_number(when: Instant) -> u64 {
    when.as_nanos()
}

/// What [`to_number`] told of.
#[cfg(any(target_os = "linux", target_os = "android"))]
pub(super) const fn from_number(number: u64) -> Instant {
    Instant::from_nanos(number)
}

/// A number for it. By the clock on the wall, as this system has no other that processes share;
/// somebody who sets that clock moves the moment.
#[cfg(not(any(target_os = "linux", target_os = "android")))]
pub(super) fn to_number(when: Instant) -> u64 {
    let since = wall_clock() + when.remaining();
    u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
}

/// What [`to_number`] told of.
#[cfg(not(any(target_os = "linux", target_os = "android")))]
pub(super) fn from_number(number: u64) -> Instant {
    Instant::now() + Duration::from_nanos(number).saturating_sub(wall_clock())
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
fn wall_clock() -> Duration {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    since.unwrap_or_default()
}
