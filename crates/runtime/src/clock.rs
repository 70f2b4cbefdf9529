//! What time it is, and being woken at a time: by a clock, or by a test.

use lockwork_core::workflow::Time;
use std::{
    fmt,
    future::Future,
    pin::Pin,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, SystemTime, UNIX_EPOCH},
};
use tokio::sync::watch;

/// Ends at some time.
pub type Sleep<'a> = Pin<Box<dyn Future<Output = ()> + Send + 'a>>;

/// Says what time it is.
pub trait Clock: fmt::Debug + Send + Sync {
    /// Now.
    fn now(&self) -> Time;

    /// Ends when it is `time`, or later.
    fn until(&self, time: Time) -> Sleep<'_>;
}

/// The clock of this machine.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Time {
        let since = SystemTime::now().duration_since(UNIX_EPOCH);
        let millis = since.unwrap_or_default().as_millis();
        Time::from_millis(millis.try_into().unwrap_or(i64::MAX))
    }

    fn until(&self, time: Time) -> Sleep<'_> {
        // The clock may be set while somebody sleeps, so nobody sleeps for long without looking.
        const LOOK: Duration = Duration::from_secs(60);
        Box::pin(async move {
            loop {
                let left = time.since(self.now());
                if left.is_zero() {
                    return;
                }
                tokio::time::sleep(left.min(LOOK)).await;
            }
        })
    }
}

/// A clock that stands still until a test moves it, so that a year passes in no time.
///
/// ```
/// use lockwork_runtime::{Clock, VirtualClock};
/// use std::time::Duration;
///
/// let clock = VirtualClock::default();
/// let before = clock.now();
/// clock.advance(Duration::from_secs(365 * 86_400));
/// assert_eq!(clock.now().since(before), Duration::from_secs(365 * 86_400));
/// ```
#[derive(Clone, Debug)]
pub struct VirtualClock {
    now: Arc<watch::Sender<Time>>,
}

impl Default for VirtualClock {
    /// One that shows the beginning of 2026.
    fn default() -> Self {
        Self::at(Time::from_millis(1_767_225_600_000))
    }
}

impl VirtualClock {
    /// One that shows this.
    #[must_use]
    pub fn at(time: Time) -> Self {
        Self {
            now: Arc::new(watch::Sender::new(time)),
        }
    }

    /// Moves it forward.
    pub fn advance(&self, by: Duration) {
        self.now.send_modify(|now| *now = now.after(by));
    }

    /// Moves it forward to `time`; never back.
    pub fn advance_to(&self, time: Time) {
        self.now.send_modify(|now| *now = time.max(*now));
    }
}

impl Clock for VirtualClock {
    fn now(&self) -> Time {
        *self.now.borrow()
    }

    fn until(&self, time: Time) -> Sleep<'_> {
        Box::pin(async move {
            let mut now = self.now.subscribe();
            // It cannot fail: the sender is here.
            let _ = now.wait_for(|now| *now >= time).await;
        })
    }
}

/// A mutex whose holder panicked is still a mutex: what it guards is never left half changed.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
