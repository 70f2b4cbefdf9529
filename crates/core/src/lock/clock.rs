//! Time for promises: a clock that goes on counting while the machine sleeps.
//!
//! A lease runs out on the server whether or not this machine was suspended meanwhile, so a guard
//! that trusted a clock which stops in suspend would believe itself valid for too long. On Linux
//! that clock is `CLOCK_BOOTTIME`; `std::time::Instant` is `CLOCK_MONOTONIC` there and stops
//! (rust-lang/rust#87906). Elsewhere this falls back to `std::time::Instant`.

use std::{
    fmt,
    ops::{Add, Sub},
    time::{Duration, SystemTime},
};

/// A point in time on a clock that counts suspend where the system has one.
///
/// Only differences mean anything, and only within one boot of one machine.
///
/// ```
/// use lockwork_core::lock::Instant;
/// use std::time::Duration;
///
/// let start = Instant::now();
/// let later = start + Duration::from_millis(5);
/// assert_eq!(later.saturating_duration_since(start), Duration::from_millis(5));
/// assert_eq!(start.saturating_duration_since(later), Duration::ZERO);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Instant {
    nanos: u64,
}

impl Instant {
    /// The present.
    #[must_use]
    pub fn now() -> Self {
        Self {
            nanos: since_start(),
        }
    }

    /// How long after `earlier` this is, or zero.
    #[must_use]
    pub fn saturating_duration_since(self, earlier: Self) -> Duration {
        Duration::from_nanos(self.nanos.saturating_sub(earlier.nanos))
    }

    /// How long from now until this, or zero if it has passed.
    #[must_use]
    pub fn remaining(self) -> Duration {
        self.saturating_duration_since(Self::now())
    }

    /// How long ago this was, or zero if it lies ahead.
    #[must_use]
    pub fn elapsed(self) -> Duration {
        Self::now().saturating_duration_since(self)
    }

    /// Whether this point has been reached.
    #[must_use]
    pub fn has_passed(self) -> bool {
        self <= Self::now()
    }

    /// The point that [`Instant::as_nanos`] told of.
    #[must_use]
    pub const fn from_nanos(nanos: u64) -> Self {
        Self { nanos }
    }

    /// A number for it. On Linux and Android it means the same to every process of one boot, so it
    /// can be handed to a child; elsewhere, to this process only.
    #[must_use]
    pub const fn as_nanos(self) -> u64 {
        self.nanos
    }
}

/// A sum too far away to count is as far away as can be counted: five centuries.
impl Add<Duration> for Instant {
    type Output = Self;
    fn add(self, by: Duration) -> Self {
        let by = u64::try_from(by.as_nanos()).unwrap_or(u64::MAX);
        Self::from_nanos(self.nanos.saturating_add(by))
    }
}

impl Sub<Duration> for Instant {
    type Output = Self;
    fn sub(self, by: Duration) -> Self {
        let by = u64::try_from(by.as_nanos()).unwrap_or(u64::MAX);
        Self::from_nanos(self.nanos.saturating_sub(by))
    }
}

impl fmt::Debug for Instant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Instant({:?})", Duration::from_nanos(self.nanos))
    }
}

/// Sleeps until `when` on the runtime of the caller.
///
/// The timer underneath stops in suspend, so after one this may return late, never early. Whoever
/// must act on time asks [`Instant::has_passed`] as well, or [naps](nap_until).
pub(crate) async fn sleep_until(when: Instant) {
    tokio::time::sleep(when.remaining()).await;
}

/// Sleeps until `when`, in naps: the timer underneath stops while the machine is suspended, and a
/// nap notices soon after. For the few who must act on time; a waiter has no need to wake up.
pub(crate) async fn nap_until(when: Instant) {
    while !when.has_passed() {
        tokio::time::sleep(when.remaining().min(LONGEST_NAP)).await;
    }
}

/// How late after a suspend somebody who naps may be.
pub(crate) const LONGEST_NAP: Duration = Duration::from_secs(1);

/// About what time it is, to a few milliseconds: for people, at a fraction of the cost.
#[cfg(any(target_os = "linux", target_os = "android"))]
pub(crate) fn about_now() -> SystemTime {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::RealtimeCoarse);
    SystemTime::UNIX_EPOCH + Duration::new(now.tv_sec as u64, now.tv_nsec as u32)
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
pub(crate) fn about_now() -> SystemTime {
    SystemTime::now()
}

#[cfg(any(target_os = "linux", target_os = "android"))]
fn since_start() -> u64 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Boottime);
    // Neither part can be negative on a clock that starts at zero.
    (now.tv_sec as u64).saturating_mul(1_000_000_000) + now.tv_nsec as u64
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
fn since_start() -> u64 {
    static START: std::sync::OnceLock<std::time::Instant> = std::sync::OnceLock::new();
    // One hour ahead, so that subtracting from an early instant does not saturate.
    let head_start = Duration::from_secs(3600);
    let now = START.get_or_init(std::time::Instant::now).elapsed() + head_start;
    u64::try_from(now.as_nanos()).unwrap_or(u64::MAX)
}
