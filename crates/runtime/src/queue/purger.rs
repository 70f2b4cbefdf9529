//! Puts aside what has waited too long.

use super::Processor;
use lockwork_core::workflow::{Result, Time};

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
        let kept = self.processor.options.dead_letters_kept.as_millis();
        let kept = i64::try_from(kept).unwrap_or(i64::MAX);
        let forget = Time::from_millis(now.as_millis().saturating_sub(kept));
        self.processor.runner.store.purge(now, forget).await
    }
}
