//! Puts aside what has waited too long.

use super::Processor;
use lockwork_core::workflow::{Result, Time};
use std::time::Duration;

/// How many instances are removed at once: nobody who writes waits for long.
const AT_ONCE: usize = 256;

/// Puts aside what has waited too long, and forgets what was put aside long ago.
#[derive(Clone, Debug)]
pub struct BookmarkQueuePurger {
    pub(crate) processor: Processor,
}

impl BookmarkQueuePurger {
    /// Stimuli that have waited too long become dead letters, old dead letters are forgotten. Says how many have become
    /// some.
    ///
    /// # Errors
    /// Those of the store.
    pub async fn purge(&self) -> Result<usize> {
        let now = self.processor.runner.clock.now();
        let forget = before(now, self.processor.options.dead_letters_kept);
        self.processor.runner.store.purge(now, forget).await
    }

    /// Instances that were over [long enough ago](crate::Options::finished_kept) are removed, with everything that belongs
    /// to them. Says how many.
    ///
    /// # Errors
    /// Those of the store. What was removed until then is gone.
    ///
    /// # Cancel safety
    /// Dropped half way, some are removed.
    pub async fn forget(&self) -> Result<usize> {
        let Some(kept) = self.processor.options.finished_kept else {
            return Ok(0);
        };
        let runner = &self.processor.runner;
        let over = before(runner.clock.now(), kept);
        let mut forgotten = 0;
        loop {
            let some = runner.store.forget(over, AT_ONCE).await?;
            forgotten += some;
            if some < AT_ONCE {
                return Ok(forgotten);
            }
        }
    }
}

/// So long ago.
fn before(now: Time, long: Duration) -> Time {
    let long = i64::try_from(long.as_millis()).unwrap_or(i64::MAX);
    Time::from_millis(now.as_millis().saturating_sub(long))
}
