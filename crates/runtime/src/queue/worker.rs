//! Looks for work, and does it, for as long as the node runs.

use super::{Listener, Processor};
use crate::options::HOLD;
use lockwork_core::workflow::Result;
use std::{sync::Arc, time::Duration};
use tokio::sync::Semaphore;
use tokio_util::{sync::CancellationToken, task::TaskTracker};

/// How long nobody looks, if nothing is due and nobody rings: another node's work makes no noise here.
const LOOK: Duration = Duration::from_secs(1);

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
        let mut bell = self.processor.runner.signal.listen();
        while !stop.is_cancelled() {
            let found = match self.look().await {
                Ok(found) => found,
                Err(error) => {
                    tracing::warn!(%error, "the store cannot be asked for work: trying again");
                    0
                }
            };
            if found == 0 {
                tokio::select! {
                    () = stop.cancelled() => return,
                    () = self.wait(&mut bell) => {}
                }
            }
        }
    }

    async fn look(&self) -> Result<usize> {
        let runner = &self.processor.runner;
        if runner.bursts.is_closed() {
            return Ok(0);
        }
        let now = runner.clock.now();
        let fired = runner.store.fire(now, FIRED).await?;
        let taken = runner
            .store
            .take(now, now.after(HOLD), self.room.available_permits())
            .await?;
        let found = fired + taken.len();
        for held in taken {
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
        Ok(found)
    }

    async fn wait(&self, bell: &mut Listener) {
        let runner = &self.processor.runner;
        // What is due and cannot be taken is no reason to look again.
        let takes = self.room.available_permits() > 0 && !runner.bursts.is_closed();
        let due = match runner.store.next_due().await {
            Ok(Some(due)) if takes => due,
            _ => runner.clock.now().after(LOOK),
        };
        let due = due.max(runner.clock.now().after(Duration::from_millis(1)));
        tokio::select! {
            () = bell.heard() => {}
            () = runner.clock.until(due) => {}
            () = tokio::time::sleep(LOOK) => {}
        }
    }
}
