//! Looks for long work and does it, as long as somebody waits for it.

use super::{JobCall, Jobs};
use crate::{clock::lock, runner::Runner, store::TakenJob};
use lockwork_core::workflow::{Failure, Result, Time, Value, Values};
use std::{
    collections::HashMap,
    sync::{Arc, Mutex},
    time::Duration,
};
use tokio::{sync::Semaphore, task::AbortHandle};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

/// How long nobody looks, if nobody rings.
const LOOK: Duration = Duration::from_secs(1);

/// How long a store that could not take a result is left alone, the first time and at most.
const FIRST_PAUSE: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_secs(5);

/// So often a node may die of it.
const ATTEMPTS: u32 = 5;

/// Does long work.
#[derive(Clone, Debug)]
pub(crate) struct JobWorker {
    runner: Arc<Runner>,
    jobs: Jobs,
    room: Arc<Semaphore>,
    hands: InHand,
    tasks: TaskTracker,
}

impl JobWorker {
    pub(crate) fn new(runner: Arc<Runner>, jobs: Jobs, most: usize, tasks: TaskTracker) -> Self {
        Self {
            runner,
            jobs,
            room: Arc::new(Semaphore::new(most)),
            hands: Arc::default(),
            tasks,
        }
    }

    /// Does whatever there is, and waits for it. Says how much.
    pub(crate) async fn pass(&self) -> Result<usize> {
        let now = self.runner.clock.now();
        let taken = self
            .runner
            .store
            .take_jobs(now, now.after(self.runner.hold), usize::MAX)
            .await?;
        let count = taken.len();
        for job in taken {
            self.clone().one(job).await?;
        }
        Ok(count)
    }

    /// Until `stop`; what is under way then is left to others.
    pub(crate) async fn work(self, stop: CancellationToken) {
        let mut told = true;
        loop {
            let rung = self.runner.store.rung();
            if let Err(error) = self.look(told).await {
                tracing::warn!(%error, "the store cannot be asked for long work: trying again");
            }
            told = tokio::select! {
                () = stop.cancelled() => break,
                () = self.runner.signal.jobs() => true,
                () = rung => true,
                () = tokio::time::sleep(LOOK) => false,
            };
        }
        self.leave().await;
    }

    /// Whoever was not `told` that there is something asks first: that keeps nobody who writes waiting.
    async fn look(&self, told: bool) -> Result<()> {
        let free = self.room.available_permits();
        if free == 0 || self.runner.bursts.is_closed() {
            return Ok(());
        }
        let now = self.runner.clock.now();
        let is_due = |due: Option<Time>| due.is_some_and(|due| due <= now);
        if !told && !is_due(self.runner.store.next_due().await?) {
            return Ok(());
        }
        for job in self
            .runner
            .store
            .take_jobs(now, now.after(self.runner.hold), free)
            .await?
        {
            let Ok(permit) = Arc::clone(&self.room).acquire_owned().await else {
                return Ok(());
            };
            let (worker, hold, kept) = (self.clone(), job.hold.clone(), job.clone());
            // It is in our hands before it can be done, and leaves them however it ends.
            let mut hands = lock(&self.hands);
            let task = self.tasks.spawn(async move {
                let _permit = permit;
                let _leaves = Leaves(Arc::clone(&worker.hands), job.hold.clone());
                if let Err(error) = worker.one(job).await {
                    tracing::warn!(%error, "the result of long work cannot be written down: it is done again");
                }
            });
            hands.insert(hold, (kept, task.abort_handle()));
        }
        Ok(())
    }

    async fn one(self, taken: TakenJob) -> Result<()> {
        let result = match taken.attempt > ATTEMPTS {
            true => Err(Failure::new(
                "job.lost",
                "nodes died while they did this: it is not tried again",
            )),
            false => self.done(&taken).await,
        };
        let result = match result {
            Ok(value) => ("result", value),
            Err(failure) => ("failure", serde_json::to_value(failure).unwrap_or_default()),
        };
        let result = Values::from_iter([(result.0.to_owned(), result.1)]);
        self.write_down(&taken, result).await?;
        self.runner.signal.ring();
        Ok(())
    }

    /// What took an hour is not done again because the store is away for a minute: it is kept until the store takes it,
    /// or hands the job to somebody else.
    async fn write_down(&self, taken: &TakenJob, result: Values) -> Result<()> {
        let mut pause = FIRST_PAUSE;
        loop {
            let now = self.runner.clock.now();
            let finish = self.runner.store.finish_job(taken, result.clone(), now);
            match finish.await {
                Err(error) if error.is_transient() => {
                    let job = taken.bookmark.as_str();
                    tracing::warn!(job, %error, "the result of long work cannot be written down: trying again");
                }
                other => return other.map(drop),
            }
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
    }

    async fn done(&self, taken: &TakenJob) -> Result<Value, Failure> {
        let call = JobCall {
            instance: taken.instance.clone(),
            with: taken.job.with.clone(),
            key: taken.job.key.clone(),
            attempt: taken.attempt,
        };
        // A task of its own, so that a panic is a failure and no more.
        let (jobs, kind) = (self.jobs.clone(), taken.job.kind.clone());
        let working = tokio::spawn(async move { jobs.begin(&kind, call).await });
        let _abort = AbortOnDrop(working.abort_handle());
        working
            .await
            .unwrap_or_else(|panic| Err(Failure::new("job.panicked", panic.to_string())))
    }

    /// Tells the store that somebody is still at it, and stops what nobody waits for any more.
    pub(crate) async fn renew(&self) -> Result<()> {
        let jobs: Vec<_> = lock(&self.hands)
            .values()
            .map(|(job, _)| job.clone())
            .collect();
        if jobs.is_empty() {
            return Ok(());
        }
        let until = self.runner.held_until();
        for lost in self.runner.store.renew_jobs(&jobs, until).await? {
            if let Some((_, task)) = lock(&self.hands).get(&lost) {
                task.abort();
            }
        }
        Ok(())
    }

    /// Stops, and lets others have it at once.
    async fn leave(&self) {
        let hands = std::mem::take(&mut *lock(&self.hands));
        let (jobs, tasks): (Vec<_>, Vec<_>) = hands.into_values().unzip();
        tasks.into_iter().for_each(|task| task.abort());
        let now = self.runner.clock.now();
        if let Err(error) = self.runner.store.release_jobs(&jobs, now).await {
            tracing::warn!(%error, "long work could not be given back: it comes back by itself");
        }
    }
}

type InHand = Arc<Mutex<HashMap<String, (TakenJob, AbortHandle)>>>;

/// Takes a job out of our hands, by its hold.
struct Leaves(InHand, String);

impl Drop for Leaves {
    fn drop(&mut self) {
        lock(&self.0).remove(&self.1);
    }
}

struct AbortOnDrop(AbortHandle);

impl Drop for AbortOnDrop {
    fn drop(&mut self) {
        self.0.abort();
    }
}
