//! How late this machine wakes sleepers, so that limits can be fair on a busy one.

use std::{sync::OnceLock, time::Duration};

/// The 99th percentile of how late a sleep of one millisecond ends here, measured once.
pub fn wakeup_delay() -> Duration {
    static DELAY: OnceLock<Duration> = OnceLock::new();
    *DELAY.get_or_init(|| {
        let nap = Duration::from_millis(1);
        let mut late: Vec<_> = (0..200)
            .map(|_| {
                let start = std::time::Instant::now();
                std::thread::sleep(nap);
                start.elapsed().saturating_sub(nap)
            })
            .collect();
        late.sort_unstable();
        late[late.len() * 99 / 100]
    })
}

/// `limit` plus ten times the wake-up delay: what a promise of `limit` is checked against.
#[must_use]
pub fn generous(limit: Duration) -> Duration {
    limit + wakeup_delay() * 10
}
