//! Looks for work, and does it, for as long as the node runs.

use super::{Processor, doors::Found};
use crate::store::Rung;
use lockwork_core::workflow::{Result, Time};
use std::{sync::Arc, time::Duration};
use tokio::sync::Semaphore;
use tokio_util::{sync::CancellationToken, task::TaskTracker};

/// How long nobody looks, if nothing is due and nobody rings: another node's work makes no noise in every store.
const LOOK: Duration = Duration::from_secs(1);

/// How long nobody looks where somebody else did.
const AGAIN: Duration = Duration::from_millis(100);

/// How many timers are made errands of at once.
const FIRED: usize = 256;

/// Looks for errands and timers.
#[derive(Debug)]
pub(crate) struct Worker {
    processor: Processor,
    /// How many errands are under way at once: most of them wait for their turn.
    room: Arc<Semaphore>,
    tasks: TaskTracker,
}

impl Worker {
    pub(crate) fn new(processor: Processor, tasks: TaskTracker) -> Self {
        let room = Arc::new(Semaphore::new(processor.options.bursts.saturating_mul(4)));
        Self {
            processor,
            room,
            tasks,
        }
    }

    /// Until `stop`.
    pub(crate) async fn work(self, stop: CancellationToken) {
        while !stop.is_cancelled() {
            let now = self.processor.runner.clock.now();
            let rung = self.processor.runner.store.rung();
            let (found, skipped) = match self.look(now).await {
                Ok(found) => found,
                Err(error) => {
                    tracing::warn!(%error, "nobody can be asked for work: trying again");
                    (0, false)
                }
            };
            if found == 0 {
                let longest = if skipped { AGAIN } else { LOOK };
                tokio::select! {
                    () = stop.cancelled() => return,
                    () = self.wait(now, rung, longest) => {}
                }
            }
        }
    }

    /// Says how much there was, and whether there may be more where others look.
    async fn look(&self, now: Time) -> Result<(usize, bool)> {
        let runner = &self.processor.runner;
        if runner.bursts.is_closed() {
            return Ok((0, false));
        }
        let fired = runner.store.fire(now, FIRED).await?;
        let Found { errands, skipped } = self.processor.find(self.room.available_permits()).await?;
        let found = fired + errands.len();
        for held in errands {
            let Ok(permit) = Arc::clone(&self.room).acquire_owned().await else {
                break;
            };
            let processor = self.processor.clone();
            self.tasks.spawn(async move {
                let _permit = permit;
                // What went wrong was told, and written down where it belongs.
                let _ = processor.attempt(held).await;
                processor.runner.signal.ring();
            });
        }
        Ok((found, skipped))
    }

    /// Until there may be something, and no longer than `longest`. What was due when this node `looked` and was not taken is not for it: a job, or
    /// work while it is paused or busy.
    async fn wait(&self, looked: Time, rung: Rung<'_>, longest: Duration) {
        let runner = &self.processor.runner;
        let due = match runner.store.next_due().await {
            Ok(Some(due)) if due > looked => due,
            _ => runner.clock.now().after(LOOK),
        };
        tokio::select! {
            () = runner.signal.errands() => {}
            () = rung => {}
            () = runner.clock.until(due) => {}
            () = tokio::time::sleep(longest) => {}
        }
    }
}
