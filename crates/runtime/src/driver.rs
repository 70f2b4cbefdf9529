//! Drives a runtime by hand, for tests: everything happens when it is asked for, and time passes when it is told to.

use crate::{
    clock::{Clock, VirtualClock},
    runtime::LocalRuntime,
};
use lockwork_core::workflow::Result;
use std::time::Duration;

/// So many errands at once.
const PASS: usize = 1024;

/// Drives a runtime that was built and not started.
///
/// ```
/// use lockwork_runtime::{Driver, MemoryStore, RuntimeBuilder, VirtualClock};
/// use std::{sync::Arc, time::Duration};
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), lockwork_runtime::Error> {
/// let clock = VirtualClock::default();
/// let runtime = RuntimeBuilder::new(Arc::new(MemoryStore::new())).clock(clock.clone()).build();
/// let driver = Driver::new(runtime, clock);
/// driver.advance(Duration::from_secs(365 * 86_400)).await?;
/// # Ok(()) }
/// ```
#[derive(Clone, Debug)]
pub struct Driver {
    runtime: LocalRuntime,
    clock: VirtualClock,
}

impl Driver {
    /// Drives `runtime`, whose clock is `clock`.
    #[must_use]
    pub const fn new(runtime: LocalRuntime, clock: VirtualClock) -> Self {
        Self { runtime, clock }
    }

    /// The runtime.
    #[must_use]
    pub const fn runtime(&self) -> &LocalRuntime {
        &self.runtime
    }

    /// Does what is due now, once. Says how much it was.
    ///
    /// # Errors
    /// Those of the store.
    pub async fn step(&self) -> Result<usize> {
        let fired = self.runtime.store().fire(self.clock.now(), PASS).await?;
        let done = self.runtime.processor().pass(PASS).await?;
        let jobs = self.runtime.job_worker().pass().await?;
        Ok(fired + done + jobs)
    }

    /// Does what is due now, and what follows from it, until there is nothing left. Says how much it was.
    ///
    /// # Errors
    /// Those of the store.
    pub async fn settle(&self) -> Result<usize> {
        let mut all = 0;
        loop {
            match self.step().await? {
                0 => return Ok(all),
                some => all += some,
            }
        }
    }

    /// Lets time pass, and does whatever becomes due meanwhile, each at its time. Says how much it was.
    ///
    /// # Errors
    /// Those of the store.
    pub async fn advance(&self, by: Duration) -> Result<usize> {
        let end = self.clock.now().after(by);
        let mut all = self.settle().await?;
        while let Some(due) = self
            .runtime
            .store()
            .next_due()
            .await?
            .filter(|due| *due <= end)
        {
            self.clock.advance_to(due);
            all += self.settle().await?;
        }
        self.clock.advance_to(end);
        Ok(all + self.settle().await?)
    }
}
