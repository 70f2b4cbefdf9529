//! Tells instances that something happened.

use crate::{
    client::panicked,
    ids,
    queue::{Did, Processor},
    store::{ErrandKind, Held, Sending},
};
use lockwork_core::workflow::{InstanceId, Ran, Result, Stimulus, Value};
use lockwork_flow::{check_input, delivered};
use tokio::task::JoinHandle;

/// Tells instances that something happened.
///
/// First it starts those it triggers, then it resumes those who wait for it; if nobody does, it waits for them. All of
/// that is written down before anything is executed, so nothing of it is lost if this node ends.
#[derive(Clone, Debug)]
pub struct StimulusSender {
    pub(crate) processor: Processor,
}

/// What a stimulus has done.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Reached {
    /// Instances that it started, as far as they got.
    pub started: Vec<Ran>,
    /// Instances that it resumed, as far as they got.
    pub resumed: Vec<Ran>,
    /// How many of those it is for could not be reached now, and will be.
    pub later: usize,
    /// Whether nobody waited for it, so that it waits.
    pub queued: bool,
    /// Whether one with the same key came before, so that this one counts for nothing.
    pub duplicate: bool,
}

/// A stimulus that was written down. What follows from it is under way, and goes on if this is dropped.
#[derive(Debug)]
#[non_exhaustive]
pub struct Told {
    /// The instances that it starts or resumes, if nobody else is quicker.
    pub instances: Vec<InstanceId>,
    reached: Reached,
    under_way: Vec<JoinHandle<Result<Did>>>,
}

impl Told {
    /// Waits until those it is for have done what they do.
    ///
    /// # Cancel safety
    /// Dropped half way, what has begun goes on.
    pub async fn reached(self) -> Reached {
        let mut reached = self.reached;
        for did in self.under_way {
            match did.await {
                Ok(Ok(Did::Started(ran))) => reached.started.push(ran),
                Ok(Ok(Did::Resumed(ran))) => reached.resumed.push(ran),
                Ok(Ok(Did::Done)) => {}
                Ok(Ok(Did::Later) | Err(_)) | Err(_) => reached.later += 1,
            }
        }
        reached
    }
}

impl StimulusSender {
    /// Tells whoever `stimulus` is for, and waits until they have done what they do.
    ///
    /// # Errors
    /// [`Invalid`](lockwork_core::workflow::ErrorKind::Invalid) if it brings more than an instance can be given, and
    /// those of the store. What then becomes of the instances is no error: it is done later.
    ///
    /// # Cancel safety
    /// Dropped half way, it was told to nobody or is told to everybody: what has begun goes on.
    pub async fn send(&self, stimulus: Stimulus) -> Result<Reached> {
        Ok(self.tell(stimulus).await?.reached().await)
    }

    /// Tells whoever `stimulus` is for. Answered when that is written down: it is done whatever becomes of this node.
    ///
    /// # Errors
    /// Those of [`send`](Self::send).
    ///
    /// # Cancel safety
    /// As [`send`](Self::send).
    pub async fn tell(&self, stimulus: Stimulus) -> Result<Told> {
        self.processor.runner.bursts.check_open()?;
        check_input(&stimulus.input)?;
        let sending = self.processor.sending(ids::random(), stimulus, None);
        // A task of its own, like all that follows: whoever goes away while the store answers would leave what it
        // was handed in nobody's hands, and everybody else waiting for the end of the hold.
        let told = tokio::spawn(self.clone().write(sending)).await;
        told.unwrap_or_else(|panic| Err(panicked(panic)))
    }

    /// Writes it down, and begins what follows from it.
    async fn write(self, sending: Sending) -> Result<Told> {
        let sent = self.processor.runner.store.send(sending).await?;
        let reached = Reached {
            queued: sent.queued,
            duplicate: sent.duplicate,
            ..Reached::default()
        };
        let instances = sent.errands.iter().filter_map(|held| instance(held));
        Ok(Told {
            instances: instances.cloned().collect(),
            reached,
            // Those at the end of a long line are kept too; and each goes on to its end, whoever waits for it.
            under_way: sent
                .errands
                .into_iter()
                .map(|held| self.begin(held))
                .collect(),
        })
    }

    fn begin(&self, held: Held) -> JoinHandle<Result<Did>> {
        let kept = self.processor.runner.hands.keep(held);
        let processor = self.processor.clone();
        let under_way = processor.runner.bursts.ask();
        tokio::spawn(async move {
            let _under_way = under_way;
            processor.attempt(kept.held().clone()).await
        })
    }

    /// Tells whoever waits for the event called `name`.
    ///
    /// # Errors
    /// [`Invalid`](lockwork_core::workflow::ErrorKind::Invalid) if the name is too long, and those of
    /// [`send`](Self::send).
    pub async fn event(&self, name: &str, payload: Value) -> Result<Reached> {
        let stimulus = Stimulus::new(lockwork_flow::EVENT, &serde_json::json!({ "name": name }))?;
        self.send(stimulus.input(delivered(Some(payload)))).await
    }

    /// A task is done, with this result.
    ///
    /// # Errors
    /// Those of [`send`](Self::send).
    pub async fn task_done(&self, task: &str, result: Value) -> Result<Reached> {
        let stimulus = Stimulus::new(lockwork_flow::TASK, &serde_json::json!({ "task": task }))?;
        self.send(stimulus.input(delivered(Some(result)))).await
    }
}

/// The one that an errand of a stimulus is about.
const fn instance(held: &Held) -> Option<&InstanceId> {
    match &held.errand.kind {
        ErrandKind::Deliver { instance, .. } | ErrandKind::Start { instance, .. } => Some(instance),
        _ => None,
    }
}
