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
        let mut quiet = false;
        while !stop.is_cancelled() {
            let now = self.processor.runner.clock.now();
            let rung = self.processor.runner.store.rung();
            // Whoever has nothing to do only asks when there will be something: that keeps nobody who writes waiting.
            let mut next = match quiet {
                true => self.next(now).await,
                false => None,
            };
            let mut longest = LOOK;
            if next.is_none() {
                match self.look(now).await {
                    Ok((0, skipped)) => longest = if skipped { AGAIN } else { LOOK },
                    Ok(_) => {
                        quiet = false;
                        continue;
                    }
                    Err(error) => {
                        tracing::warn!(%error, "nobody can be asked for work: trying again");
                    }
                }
                next = self.next(now).await;
            }
            tokio::select! {
                () = stop.cancelled() => return,
                told = self.wait(next, rung, longest) => quiet = !told && longest == LOOK,
            }
        }
    }

    /// Says how much there was, and whether there may be more where others look.
    async fn look(&self, now: Time) -> Result<(usize, bool)> {
        let runner = &self.processor.runner;
        if runner.bursts.is_closed() {
            return Ok((0, false));
        }
        // That no timer can be found must not keep what is due already from being done.
        let fired = runner.store.fire(now, FIRED).await;
        let fired = fired.inspect_err(|error| {
            tracing::warn!(%error, "nobody can be asked for timers: trying again");
        });
        let fired = fired.unwrap_or_default();
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

    /// When something is due next, if nothing is `now`. What was due when this node looked and was not taken is not for
    /// it: a job, or work while it is paused or busy.
    async fn next(&self, now: Time) -> Option<Next> {
        match self.processor.runner.store.next_due().await {
            Ok(Some(due)) if due > now => Some(Next::Due(due)),
            Ok(None) => Some(Next::Nothing),
            Ok(Some(_)) | Err(_) => None,
        }
    }

    /// Until there may be something, and no longer than `longest`. Says whether there is a reason to believe so.
    async fn wait(&self, next: Option<Next>, rung: Rung<'_>, longest: Duration) -> bool {
        let runner = &self.processor.runner;
        let (due, is_known) = match next {
            Some(Next::Due(due)) => (due, true),
            Some(Next::Nothing) | None => (runner.clock.now().after(LOOK), false),
        };
        tokio::select! {
            () = runner.signal.errands() => true,
            () = rung => true,
            () = runner.clock.until(due) => is_known,
            () = tokio::time::sleep(longest) => false,
        }
    }
}

/// What the store has for later.
enum Next {
    Due(Time),
    Nothing,
}
