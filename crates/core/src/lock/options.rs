//! Options of one acquisition.

use super::Wait;
use std::time::Duration;

/// How to take a lock: the full form behind `lock`, `try_lock` and `try_lock_for`.
///
/// ```
/// use lockwork_core::lock::{LockOptions, Wait};
/// use std::time::Duration;
///
/// let options = LockOptions::new()
///     .wait(Wait::For(Duration::from_secs(5)))
///     .lease(Duration::from_secs(6))
///     .max_hold(Duration::from_secs(60));
/// ```
#[derive(Clone, Copy, Debug)]
pub struct LockOptions {
    pub(crate) wait: Wait,
    pub(crate) lease: Option<Duration>,
    pub(crate) renew: bool,
    pub(crate) max_hold: Option<Duration>,
}

impl Default for LockOptions {
    fn default() -> Self {
        Self::new()
    }
}

impl LockOptions {
    /// Wait forever, the backend's own lease, renewed, held for as long as the guard lives.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            wait: Wait::Forever,
            lease: None,
            renew: true,
            max_hold: None,
        }
    }

    /// How long to wait. Default: [`Wait::Forever`].
    #[must_use]
    pub const fn wait(mut self, wait: Wait) -> Self {
        self.wait = wait;
        self
    }

    /// How long a grant may outlive a holder that died or was cut off. Default: the backend's.
    ///
    /// A wish: a backend whose locks live with a connection or a process ignores it, and one with
    /// limits takes the nearest it has. Short means quick takeover and many renewals; below a few
    /// hundred milliseconds a busy machine loses locks it could have kept.
    #[must_use]
    pub const fn lease(mut self, lease: Duration) -> Self {
        self.lease = Some(lease);
        self
    }

    /// Whether a lease is renewed for as long as its guard lives. Default: yes.
    ///
    /// Without, the guard is lost when its first lease has run out.
    #[must_use]
    pub const fn renew(mut self, renew: bool) -> Self {
        self.renew = renew;
        self
    }

    /// The longest time to hold the lock, counted from the grant. Default: no limit.
    ///
    /// Then the guard is lost with [`Loss::HeldTooLong`](super::Loss::HeldTooLong) and the lock
    /// goes to the next one, although the guard still exists: a task that hangs with a guard in
    /// its hands cannot keep a renewed lock for ever.
    #[must_use]
    pub const fn max_hold(mut self, limit: Duration) -> Self {
        self.max_hold = Some(limit);
        self
    }
}
