//! What has to be done.

use lockwork_core::workflow::{
    Answer, BookmarkId, Create, InstanceId, Run, Stimulus, Time, Values,
};
use serde::{Deserialize, Serialize};
use std::{
    future::{Future, pending},
    pin::Pin,
};

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

/// Some of the parts that all errands are divided into, by a number that the store gives each: so that several nodes
/// can look for errands without meeting.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parts {
    of: u32,
    numbers: Vec<u32>,
}

impl Parts {
    /// These of so many, which are counted from zero.
    #[must_use]
    pub fn new(of: u32, numbers: impl IntoIterator<Item = u32>) -> Self {
        let of = of.max(1);
        let numbers = numbers.into_iter().filter(|number| *number < of).collect();
        Self { of, numbers }
    }

    /// All there is.
    #[must_use]
    pub fn all() -> Self {
        Self::new(1, [0])
    }

    /// How many there are in all.
    #[must_use]
    pub const fn of(&self) -> u32 {
        self.of
    }

    /// Which ones.
    #[must_use]
    pub fn numbers(&self) -> &[u32] {
        &self.numbers
    }

    /// Whether an errand with this number is in one of them.
    #[must_use]
    pub fn have(&self, number: u64) -> bool {
        let mut numbers = self.numbers.iter();
        numbers.any(|one| number % u64::from(self.of) == u64::from(*one))
    }
}

/// Ends when it rings.
pub type Rung<'a> = Pin<Box<dyn Future<Output = ()> + Send + 'a>>;

/// Hands out errands.
pub trait ErrandStore {
    /// Adds some. One that is there already is not added again.
    fn add(&self, errands: Vec<Errand>) -> Answer<'_, ()>;

    /// Hands out up to `limit` errands that are due and that nobody has, until `until`.
    fn take(&self, now: Time, until: Time, limit: usize) -> Answer<'_, Vec<Held>> {
        self.take_from(Parts::all(), now, until, limit)
    }

    /// The same, of those in some parts. Each errand is in one part for as long as it is there, whichever store and node
    /// is asked. Who looks where is for speed alone: an errand is handed to one node, in whichever part it is.
    fn take_from(
        &self,
        parts: Parts,
        now: Time,
        until: Time,
        limit: usize,
    ) -> Answer<'_, Vec<Held>>;

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

    /// Ends when another node may have added errands or jobs since this was called: so it is called before one looks
    /// for them, and waited for afterwards. A hint, and never the only one: whoever waits looks now and then as well. A
    /// store that hears nothing of other nodes never ends it.
    fn rung(&self) -> Rung<'_> {
        Box::pin(pending())
    }
}
