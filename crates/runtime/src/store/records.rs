//! Definitions, stimuli that wait, dead letters and jobs, as they are kept.

use super::{Errand, Held};
use lockwork_core::workflow::{
    Addressee, Answer, BookmarkId, DefinitionHandle, DefinitionId, InstanceId, NodeId, Stimulus,
    StimulusHash, SubStatus, Time, Values, VersionId,
};
use lockwork_flow::{Definition, Job, Schedule, State};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// What is known of an instance.
#[derive(Clone, Debug)]
pub struct Record {
    /// Its state.
    pub state: Arc<State>,
    /// Which version of it this is.
    pub version: u64,
    /// How often it was claimed.
    pub epoch: u64,
    /// Where it stands in the list of all.
    pub position: Position,
}

/// Where an instance stands in the list of all, by a number that the store gives each: whoever came later has a greater
/// one, and stands before it. One that is imported comes anew.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Position(u64);

impl Position {
    /// That of the instance with this number.
    #[must_use]
    pub const fn new(number: u64) -> Self {
        Self(number)
    }

    /// The number.
    #[must_use]
    pub const fn number(self) -> u64 {
        self.0
    }
}

/// Which instances.
#[derive(Clone, Debug, Default)]
pub struct Filter {
    /// Of this definition.
    pub definition: Option<DefinitionId>,
    /// As far as this.
    pub sub_status: Option<SubStatus>,
    /// With this correlation.
    pub correlation: Option<String>,
    /// Those that are over, or those that are not.
    pub over: Option<bool>,
    /// Those that come after this in the list, whether or not an instance still stands there.
    pub after: Option<Position>,
    /// So many at most.
    pub limit: Option<usize>,
}

/// A stimulus on its way.
#[derive(Clone, Debug)]
pub struct Sending {
    /// What it is called: errands are called after it.
    pub id: String,
    /// What happened.
    pub stimulus: Stimulus,
    /// Now.
    pub now: Time,
    /// How long it waits, if nobody does. For ever, if it is for somebody certain.
    pub expires: Option<Time>,
    /// The errand that asked for it.
    pub consumes: Option<Held>,
    /// Until when the sender holds the errands it is given back, to do them itself.
    pub hold: Time,
}

/// What became of a stimulus.
#[derive(Clone, Debug, Default)]
pub struct Sent {
    /// What has to be done now, held by the sender.
    pub errands: Vec<Held>,
    /// Whether nobody waited for it, so that it waits.
    pub queued: bool,
    /// Whether one with the same key came before: this one counts for nothing.
    pub duplicate: bool,
}

/// A stimulus for which nobody waits yet.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WaitingStimulus {
    /// What it is called.
    pub id: String,
    /// What happened.
    pub stimulus: Stimulus,
    /// When.
    pub created: Time,
    /// Until when it waits.
    pub expires: Option<Time>,
}

/// Something that happens by itself. The one that happens first is the least.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Timer {
    /// When.
    pub due: Time,
    /// What happens then.
    pub kind: TimerKind,
}

/// What happens by itself.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum TimerKind {
    /// An instance is resumed.
    Resume {
        /// Where.
        bookmark: BookmarkId,
        /// Which one.
        instance: InstanceId,
    },
    /// An instance of a published workflow is started.
    Start {
        /// The workflow.
        definition: DefinitionId,
        /// The activity that waits for it.
        node: NodeId,
    },
}

/// Something that was not done.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DeadLetter {
    /// What it was called.
    pub id: String,
    /// What it was.
    pub letter: Letter,
    /// Why it was not done.
    pub reason: Reason,
    /// When that was decided.
    pub at: Time,
    /// When it was sent once more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replayed: Option<Time>,
}

/// What was not done.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Letter {
    /// A stimulus for which nobody has waited.
    Stimulus(WaitingStimulus),
    /// An errand that failed.
    Errand(Errand),
}

/// Why something was not done.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Reason {
    /// Nobody has waited for it in time.
    Expired,
    /// It failed each time.
    Failed {
        /// How often.
        attempts: u32,
        /// The last time so.
        error: String,
    },
}

/// Brings stimuli and bookmarks together.
pub trait StimulusStore {
    /// Tells everybody for whom it is; if that is nobody, it waits.
    ///
    /// # Errors
    /// [`Fenced`](lockwork_core::workflow::ErrorKind::Fenced) if the errand that asked for it is not held any more.
    fn send(&self, sending: Sending) -> Answer<'_, Sent>;

    /// A delivery came too late: its stimulus goes to another bookmark of the instance, or waits for one.
    fn redirect<'a>(&'a self, held: &'a Held, now: Time, expires: Time) -> Answer<'a, ()>;

    /// Makes errands of up to `limit` bookmarks and schedules whose time has come. Says how many.
    fn fire(&self, now: Time, limit: usize) -> Answer<'_, usize>;

    /// The next `limit` bookmarks and schedules whose time comes, or has come and was not [fired](Self::fire): soonest
    /// first. A bookmark that something else is about to resume may be among them.
    fn timers(&self, limit: usize) -> Answer<'_, Vec<Timer>>;

    /// Those that wait.
    fn waiting(&self) -> Answer<'_, Vec<WaitingStimulus>>;

    /// Those that have waited too long become dead letters; dead letters before `forget` are forgotten. Says how many
    /// have become some.
    fn purge(&self, now: Time, forget: Time) -> Answer<'_, usize>;

    /// What was not done.
    fn dead_letters(&self) -> Answer<'_, Vec<DeadLetter>>;

    /// Tries once more what was not done, under a new name. Says whether it could: once only.
    fn replay<'a>(
        &'a self,
        id: &'a str,
        again: &'a str,
        now: Time,
        expires: Time,
    ) -> Answer<'a, bool>;
}

/// A version of a workflow that shall exist.
#[derive(Clone, Debug)]
pub struct NewVersion {
    /// The workflow.
    pub definition: Definition,
    /// Whether it is the one that counts from now on.
    pub publish: bool,
    /// What starts instances of it, if it is.
    pub triggers: Vec<TriggerRow>,
    /// When.
    pub now: Time,
}

/// A version of a workflow.
#[derive(Clone, Debug, PartialEq)]
pub struct VersionRow {
    /// Its own id.
    pub id: VersionId,
    /// Which one.
    pub number: u32,
    /// Whether it is the one that counts.
    pub published: bool,
    /// The workflow.
    pub definition: Arc<Definition>,
    /// When it was made.
    pub created: Time,
}

/// What starts instances of a published workflow.
#[derive(Clone, Debug, PartialEq)]
pub struct TriggerRow {
    /// The activity that would wait for it.
    pub node: NodeId,
    /// By what a stimulus finds it.
    pub hash: StimulusHash,
    /// When it happens by itself.
    pub schedule: Option<Schedule>,
    /// When it happens the next time.
    pub next: Option<Time>,
}

/// Keeps definitions.
pub trait DefinitionStore {
    /// Adds a version, and makes it the one that counts if it is to. The same as the last one is no new one.
    fn put(&self, new: NewVersion) -> Answer<'_, VersionRow>;

    /// The version that is meant, if there is one.
    fn resolve<'a>(&'a self, handle: &'a DefinitionHandle) -> Answer<'a, Option<VersionRow>>;

    /// All versions of a workflow, or of all of them.
    fn versions<'a>(&'a self, definition: Option<&'a DefinitionId>) -> Answer<'a, Vec<VersionRow>>;

    /// No version of it counts any more, and nothing starts instances of it. Says whether one did.
    fn retract<'a>(&'a self, definition: &'a DefinitionId) -> Answer<'a, bool>;

    /// What starts instances of a version that counts, from now on. One that was there stays what it was. Says how many
    /// were added or removed.
    fn index<'a>(&'a self, version: &'a VersionId, triggers: Vec<TriggerRow>) -> Answer<'a, usize>;

    /// What starts instances of a workflow.
    fn triggers<'a>(&'a self, definition: &'a DefinitionId) -> Answer<'a, Vec<TriggerRow>>;
}

/// Long work that shall be done.
#[derive(Clone, Debug, PartialEq)]
pub struct NewJob {
    /// What waits for it.
    pub bookmark: BookmarkId,
    /// The work.
    pub job: Job,
}

/// Long work that a node was handed, until some time.
#[derive(Clone, Debug, PartialEq)]
pub struct TakenJob {
    /// The instance that waits for it.
    pub instance: InstanceId,
    /// What waits for it.
    pub bookmark: BookmarkId,
    /// The work.
    pub job: Job,
    /// By what the store knows that this is still the last one who was handed it.
    pub hold: String,
    /// How often somebody was handed it, this time included.
    pub attempt: u32,
}

/// Hands out long work.
pub trait JobStore {
    /// Hands out up to `limit` that nobody has, until `until`.
    fn take_jobs(&self, now: Time, until: Time, limit: usize) -> Answer<'_, Vec<TakenJob>>;

    /// Keeps those that are still wanted. Gives back the holds that are not.
    fn renew_jobs<'a>(&'a self, jobs: &'a [TakenJob], until: Time) -> Answer<'a, Vec<String>>;

    /// Gives back undone those that are still held: they are for others at once, and that they were handed out does not
    /// count.
    fn release_jobs<'a>(&'a self, jobs: &'a [TakenJob], now: Time) -> Answer<'a, ()>;

    /// It is done, with this result for whoever waits for it. Says whether somebody still did.
    fn finish_job<'a>(&'a self, job: &'a TakenJob, result: Values, now: Time) -> Answer<'a, bool>;
}

/// Whether `to` means a bookmark of this instance.
#[must_use]
pub fn is_for(
    to: &Addressee,
    instance: &InstanceId,
    correlation: Option<&str>,
    bookmark: &lockwork_core::workflow::Bookmark,
) -> bool {
    to.instance.as_ref().is_none_or(|wanted| wanted == instance)
        && to
            .correlation
            .as_deref()
            .is_none_or(|wanted| Some(wanted) == correlation)
        && to
            .execution
            .as_ref()
            .is_none_or(|wanted| *wanted == bookmark.execution)
        && to
            .bookmark
            .as_ref()
            .is_none_or(|wanted| *wanted == bookmark.id)
}
