//! What activities are, for people who write one.

use crate::{burst::Cx, signal::{Answer, Signal}};
use lockwork_core::workflow::{Failure, NodeId, Value, Values};
use std::{fmt, future::Future, pin::Pin};

/// What an activity is doing.
pub type Doing<'a> = Pin<Box<dyn Future<Output = Result<Step, Failure>> + Send + 'a>>;

/// One kind of activity. There is one value for all of its executions: what an execution remembers is in
/// [`Cx::data`], what it is given in [`Cx::input`].
///
/// # Cancel safety
/// Each of these may be dropped at any `await`, because the lock was lost or the node is about to end. What was
/// not committed is done again, elsewhere: [`Cx::key`] says to others that it is the same.
pub trait Activity: fmt::Debug + Send + Sync {
    /// What definitions may say about it.
    fn describe(&self) -> Descriptor;

    /// Begins.
    fn execute<'a>(&'a self, cx: &'a mut Cx<'_>) -> Doing<'a>;

    /// Goes on `at` a point it has named when it made a bookmark.
    fn resume<'a>(&'a self, cx: &'a mut Cx<'_>, at: &'a str, input: &'a Values) -> Doing<'a> {
        let _ = (cx, at, input);
        done()
    }

    /// One that it has scheduled is over.
    fn child_done<'a>(&'a self, cx: &'a mut Cx<'_>, child: &'a Child) -> Doing<'a> {
        let _ = (cx, child);
        done()
    }

    /// Something comes up from inside of it.
    fn signal(&self, cx: &mut Cx<'_>, signal: &Signal) -> Answer {
        let _ = (cx, signal);
        Answer::Pass
    }
}

/// An activity that has nothing more to do.
#[must_use]
pub fn done<'a>() -> Doing<'a> {
    Box::pin(std::future::ready(Ok(Step::done())))
}

/// What an activity did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// All of it. What is still under way inside of it is cancelled.
    Done {
        /// Which way to go on, where there are several: `Done`, usually.
        outcome: String,
    },
    /// What it could: others inside of it go on, or somebody has to resume it.
    Wait,
}

impl Step {
    /// The usual outcome.
    pub const DONE: &'static str = "Done";

    /// All of it, as usual.
    #[must_use]
    pub fn done() -> Self {
        Self::outcome(Self::DONE)
    }

    /// All of it, and this is the way to go on.
    #[must_use]
    pub fn outcome(outcome: impl Into<String>) -> Self {
        Self::Done {
            outcome: outcome.into(),
        }
    }
}

/// One that an activity has scheduled, and that is over.
#[derive(Clone, Debug, PartialEq)]
pub struct Child {
    /// The activity.
    pub node: NodeId,
    /// What was said of it when it was scheduled.
    pub tag: Value,
    /// How it ended.
    pub outcome: String,
}

/// What definitions may say about an activity.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Descriptor {
    /// What it is called in definitions.
    pub kind: &'static str,
    /// What it is for, in a sentence.
    pub about: &'static str,
    /// What it is given.
    pub inputs: &'static [Given],
    /// What it contains.
    pub contains: Contains,
    /// Whether it gives something that can go `into` a variable.
    pub gives: bool,
    /// Whether what it waits for can start instances.
    pub can_start: bool,
}

/// Something that an activity is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Given {
    /// What it is called.
    pub name: &'static str,
    /// Whether it does not go without.
    pub required: bool,
    /// Whether it is known before anything is executed: it has to be a plain value.
    pub fixed: bool,
}

/// What an activity contains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Contains {
    /// Nothing.
    Nothing,
    /// Any number, in a list.
    List,
    /// These ports, any of which may be missing unless it is required.
    Ports {
        /// Those it does not go without.
        required: &'static [&'static str],
        /// The others.
        optional: &'static [&'static str],
    },
    /// Ports with any names.
    Any,
}
