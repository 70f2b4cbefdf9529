//! What has to be done.

use lockwork_core::workflow::{
    Answer, BookmarkId, Create, InstanceId, Run, Stimulus, Time, Values,
};
use serde::{Deserialize, Serialize};

/// What an errand is called. Decided by whoever asks for it, so that what is asked for twice is one.
pub type ErrandId = String;

/// Something that has to be done, some time, by some node.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Errand {
    /// Its own.
    pub id: ErrandId,
    /// What.
    pub kind: ErrandKind,
    /// Not before.
    pub due: Time,
}

/// What has to be done.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ErrandKind {
    /// Tell everybody for whom this is.
    Send(Stimulus),
    /// Resume an instance.
    Deliver {
        /// Which one.
        instance: InstanceId,
        /// Where.
        bookmark: BookmarkId,
        /// What with.
        input: Values,
        /// What did it, to be kept if somebody else was quicker. A timer has none.
        stimulus: Option<Stimulus>,
    },
    /// Create an instance, and run it.
    Start {
        /// What it is called.
        instance: InstanceId,
        /// What it is made of.
        create: Create,
        /// Where it begins.
        run: Run,
    },
    /// Run an instance that exists.
    Run {
        /// Which one.
        instance: InstanceId,
        /// Where.
        run: Run,
    },
    /// End an instance.
    Cancel(InstanceId),
}

impl ErrandKind {
    /// The instance it is for, if it is for one.
    #[must_use]
    pub const fn instance(&self) -> Option<&InstanceId> {
        match self {
            Self::Send(_) => None,
            Self::Deliver { instance, .. }
            | Self::Start { instance, .. }
            | Self::Run { instance, .. }
            | Self::Cancel(instance) => Some(instance),
        }
    }
}

/// An errand that a node was handed, until some time.
#[derive(Clone, Debug, PartialEq)]
pub struct Held {
    /// What has to be done.
    pub errand: Errand,
    /// By what the store knows that this is still the last one who was handed it.
    pub hold: String,
    /// How often somebody was handed it, this time included.
    pub attempt: u32,
}

/// Giving an errand back undone.
#[derive(Clone, Debug, PartialEq)]
pub struct Release {
    /// Not before.
    pub due: Time,
    /// Whether this was an attempt: not, if nothing was tried.
    pub counts: bool,
    /// What went wrong.
    pub error: Option<String>,
}

/// Hands out errands.
pub trait ErrandStore {
    /// Adds some. One that is there already is not added again.
    fn add(&self, errands: Vec<Errand>) -> Answer<'_, ()>;

    /// Hands out up to `limit` errands that are due and that nobody has, until `until`.
    fn take(&self, now: Time, until: Time, limit: usize) -> Answer<'_, Vec<Held>>;

    /// Keeps those that are still held. Gives back the holds that are not.
    fn renew<'a>(&'a self, holds: &'a [Held], until: Time) -> Answer<'a, Vec<String>>;

    /// Gives one back undone. Nothing happens if it is not held any more.
    fn release<'a>(&'a self, held: &'a Held, release: Release) -> Answer<'a, ()>;

    /// Takes one away, done. Says whether it was still held.
    fn done<'a>(&'a self, held: &'a Held) -> Answer<'a, bool>;

    /// Takes one away that cannot be done, and keeps it among the dead letters.
    fn bury<'a>(&'a self, held: &'a Held, error: &'a str, now: Time) -> Answer<'a, ()>;

    /// When the next thing is due, of whatever kind: errands, timers, schedules, jobs.
    fn next_due(&self) -> Answer<'_, Option<Time>>;
}
