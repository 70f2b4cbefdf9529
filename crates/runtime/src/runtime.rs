//! A runtime on one node.

use crate::{
    client::LocalClient,
    definitions::Definitions,
    events::Event,
    jobs::{JobWorker, Jobs},
    node::{Node, Readiness},
    options::Options,
    queue::{BookmarkQueuePurger, DeadLetters, Processor, Worker},
    refresher::{DefinitionsRefresher, RefreshStatus},
    reloader::DefinitionsReloader,
    resumer::WorkflowResumer,
    runner::Runner,
    sender::StimulusSender,
    store::{Record, Store},
};
use lockwork_core::workflow::{Client, CreateAndRun, Created, InstanceId, Result, Runtime};
use lockwork_flow::{State, shown};
use std::{sync::Arc, time::Duration};
use tokio::sync::broadcast;
use tokio_util::{sync::CancellationToken, task::TaskTracker};

/// How long to wait for another node that publishes definitions.
const RELOAD: Duration = Duration::from_millis(100);

/// How often stimuli that have waited too long are put aside.
const PURGE: Duration = Duration::from_secs(10);

/// Runs workflows on one node.
///
/// ```
/// use lockwork_core::workflow::{Client, Create, CreateAndRun, DefinitionHandle, Runtime, SubStatus};
/// use lockwork_flow::Definition;
/// use lockwork_runtime::{MemoryStore, RuntimeBuilder};
/// use std::sync::Arc;
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let runtime = RuntimeBuilder::new(Arc::new(MemoryStore::new())).build();
/// let greeting = Definition::from_json(r#"{
///   "lockwork": 1,
///   "id": "greeting",
///   "root": { "type": "Log", "id": "hello", "with": { "text": { "$text": "Hello {{ input.who }}" } } }
/// }"#)?;
/// let id = greeting.id.clone();
/// runtime.definitions().publish(greeting).await?;
///
/// let mut create = Create::new(DefinitionHandle::published(id));
/// create.input.insert("who".into(), "world".into());
/// let ran = runtime.client(None).create_and_run(CreateAndRun::new(create)).await?;
/// assert_eq!(ran.sub_status, SubStatus::Finished);
/// # Ok(()) }
/// ```
#[derive(Clone, Debug)]
pub struct LocalRuntime {
    pub(crate) parts: Arc<Parts>,
}

#[derive(Debug)]
pub(crate) struct Parts {
    pub(crate) runner: Arc<Runner>,
    pub(crate) options: Arc<Options>,
    pub(crate) jobs: Jobs,
    pub(crate) node: Arc<Node>,
    pub(crate) refresher: Arc<dyn DefinitionsRefresher>,
    pub(crate) reloader: Arc<dyn DefinitionsReloader>,
    pub(crate) stop: CancellationToken,
    pub(crate) tasks: TaskTracker,
}

/// How a node ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Drained {
    /// Every burst came to the end of a step, and is for others now.
    Done,
    /// Some did not in time. They are for others once their holds are over; what they commit until then counts.
    TimedOut,
}

impl LocalRuntime {
    pub(crate) fn processor(&self) -> Processor {
        Processor {
            runner: Arc::clone(&self.parts.runner),
            options: Arc::clone(&self.parts.options),
        }
    }

    pub(crate) fn job_worker(&self) -> JobWorker {
        let parts = &self.parts;
        JobWorker::new(
            Arc::clone(&parts.runner),
            parts.jobs.clone(),
            parts.options.jobs,
            parts.tasks.clone(),
        )
    }

    /// Where definitions are published and found.
    #[must_use]
    pub fn definitions(&self) -> &Definitions {
        &self.parts.runner.definitions
    }

    /// Tells instances that something happened.
    #[must_use]
    pub fn sender(&self) -> StimulusSender {
        StimulusSender {
            processor: self.processor(),
        }
    }

    /// Resumes instances whose bookmark one knows.
    #[must_use]
    pub fn resumer(&self) -> WorkflowResumer {
        WorkflowResumer {
            runner: Arc::clone(&self.parts.runner),
        }
    }

    /// What was not done.
    #[must_use]
    pub fn dead_letters(&self) -> DeadLetters {
        DeadLetters {
            processor: self.processor(),
        }
    }

    /// Puts aside what has waited too long.
    #[must_use]
    pub fn purger(&self) -> BookmarkQueuePurger {
        BookmarkQueuePurger {
            processor: self.processor(),
        }
    }

    /// Finds out again what starts instances.
    #[must_use]
    pub fn refresher(&self) -> &dyn DefinitionsRefresher {
        &*self.parts.refresher
    }

    /// Publishes again what the program and its folders define.
    #[must_use]
    pub fn reloader(&self) -> &dyn DefinitionsReloader {
        &*self.parts.reloader
    }

    /// Where everything is written down.
    #[must_use]
    pub fn store(&self) -> &Arc<dyn Store> {
        &self.parts.runner.store
    }

    /// Creates an instance and has it run, without waiting for that.
    ///
    /// Answered when it exists, and that it is to run is written down with it: whatever becomes of this node, it is run.
    /// Of several with one key, one is created and run, and the others are answered with it.
    ///
    /// # Errors
    /// Those of [`Client::create`], and [`Stopping`](lockwork_core::workflow::ErrorKind::Stopping) if this node takes no
    /// work.
    ///
    /// # Cancel safety
    /// As [`Client::create`]; what was created is run.
    pub async fn begin(&self, id: Option<InstanceId>, request: CreateAndRun) -> Result<Created> {
        self.client_of(id).begin(request).await
    }

    /// What may be seen of an instance: its state, without the values that are secret.
    ///
    /// # Errors
    /// [`NotFound`](lockwork_core::workflow::ErrorKind::NotFound) if its definition is gone, and those of the store.
    pub async fn shown(&self, record: &Record) -> Result<State> {
        let graph = self.definitions().graph(&record.state.version).await?;
        Ok(shown(&graph, &record.state))
    }

    fn client_of(&self, id: Option<InstanceId>) -> LocalClient {
        let id = id.unwrap_or_else(|| InstanceId::drawn(rand::random()));
        LocalClient::new(id, Arc::clone(&self.parts.runner))
    }

    /// What is written down from now on.
    #[must_use]
    pub fn events(&self) -> broadcast::Receiver<Event> {
        self.parts.runner.events.listen()
    }

    /// What this node is called: [`Options::node`].
    #[must_use]
    pub fn name(&self) -> &str {
        &self.parts.options.node
    }

    /// Whether this node can do what it is asked: not before it is [started](Self::start), while it is paused or ends, and
    /// while the store or the lock server does not answer. Known from the last time it said that it lives, three times
    /// in each [`Options::hold`].
    #[must_use]
    pub fn readiness(&self) -> Readiness {
        self.parts.node.readiness(&self.parts.runner)
    }

    /// Publishes what the program and its folders define, and begins to look for work: errands, timers, schedules,
    /// jobs. Whatever a node that died has left is among it.
    ///
    /// # Errors
    /// Those of the definitions, of the store, and of what [many nodes](crate::Cluster) agree on.
    pub async fn start(&self) -> Result<()> {
        let node = &self.parts.node;
        node.cluster().start(&**self.store()).await?;
        self.publish().await?;
        let (parts, stop) = (&self.parts, &self.parts.stop);
        let worker = Worker::new(self.processor(), parts.tasks.clone());
        parts.tasks.spawn(worker.work(stop.clone()));
        let jobs = self.job_worker();
        parts.tasks.spawn(jobs.clone().work(stop.clone()));
        let (runner, drain) = (Arc::clone(&parts.runner), parts.options.drain);
        parts.tasks.spawn(keep(runner, jobs, stop.clone(), drain));
        parts.tasks.spawn(purge(self.purger(), stop.clone()));
        let runner = Arc::clone(&parts.runner);
        parts
            .tasks
            .spawn(Arc::clone(node).live(runner, stop.clone()));
        Ok(())
    }

    /// Publishes what this program defines, after whoever is just publishing: that may be another version of it.
    async fn publish(&self) -> Result<()> {
        while self.parts.reloader.reload().await?.status == RefreshStatus::AlreadyInProgress {
            tokio::time::sleep(RELOAD).await;
        }
        Ok(())
    }

    /// Takes no more work until [resumed](Self::resume). Bursts under way stop between two steps.
    pub fn pause(&self) {
        self.parts.runner.bursts.close();
    }

    /// Takes work again, unless it is about to end.
    pub fn resume(&self) {
        if !self.parts.stop.is_cancelled() {
            self.parts.runner.bursts.open();
            self.parts.runner.signal.ring();
        }
    }

    /// Ends: no more work is taken, bursts under way stop between two steps, and others can go on with them at once.
    /// Nothing is cancelled.
    pub async fn drain(&self) -> Drained {
        let parts = &self.parts;
        parts.runner.bursts.close();
        parts.stop.cancel();
        parts.tasks.close();
        let idle = async {
            parts.runner.bursts.idle().await;
            parts.tasks.wait().await;
        };
        match tokio::time::timeout(parts.options.drain, idle).await {
            Ok(()) => Drained::Done,
            Err(_) => Drained::TimedOut,
        }
    }
}

/// Tells the store now and then that this node is still at what it has in hand.
async fn keep(runner: Arc<Runner>, jobs: JobWorker, stop: CancellationToken, drain: Duration) {
    // Bursts that come to the end of their step meanwhile are kept until then.
    let idle = async {
        stop.cancelled().await;
        let _ = tokio::time::timeout(drain, runner.bursts.idle()).await;
    };
    tokio::pin!(idle);
    loop {
        tokio::select! {
            () = &mut idle => return,
            () = tokio::time::sleep(runner.hold / 3) => {}
        }
        let kept = runner
            .hands
            .renew(&*runner.store, runner.held_until())
            .await;
        if let Err(error) = kept.and(jobs.renew().await) {
            tracing::warn!(%error, "the store could not be told what is under way: trying again");
        }
    }
}

async fn purge(purger: BookmarkQueuePurger, stop: CancellationToken) {
    loop {
        tokio::select! {
            () = stop.cancelled() => return,
            () = tokio::time::sleep(PURGE) => {}
        }
        if let Err(error) = purger.purge().await {
            tracing::warn!(%error, "old stimuli could not be put aside: trying again");
        }
        if let Err(error) = purger.forget().await {
            tracing::warn!(%error, "instances that are over could not be forgotten: trying again");
        }
    }
}

impl Runtime for LocalRuntime {
    fn client(&self, id: Option<InstanceId>) -> Arc<dyn Client> {
        Arc::new(self.client_of(id))
    }
}
