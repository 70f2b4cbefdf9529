//! What activities are, for people who write one.

use crate::{
    burst::Cx,
    definition::Node,
    signal::{Answer, Signal},
};
use lockwork_core::workflow::{Failure, NodeId, Value, Values};
use std::{fmt, future::Future, pin::Pin};

/// What an activity is doing.
pub type Doing<'a> = Pin<Box<dyn Future<Output = Result<Step, Failure>> + Send + 'a>>;

/// One kind of activity. There is one value for all of its executions: what an execution remembers is in
/// [`Cx::data`], what it is given is [asked for](Cx::value).
///
/// # Cancel safety
/// Each of these may be dropped at any `await`, because the lock was lost or the node is about to end. What was
/// not committed is done again, elsewhere: [`Cx::key`] says to others that it is the same.
pub trait Activity: fmt::Debug + Send + Sync {
    /// What definitions may say about it.
    fn describe(&self) -> Descriptor;

    /// Whether a definition says something about it that cannot be, besides what
    /// [`describe`](Self::describe) tells.
    ///
    /// # Errors
    /// The field, and a sentence.
    fn check(&self, node: &Node) -> Result<(), Wrong> {
        let _ = node;
        Ok(())
    }

    /// Names that those inside of it know besides, at this port if it has ports.
    fn names(&self, node: &Node, port: Option<&str>) -> Vec<String> {
        let _ = (node, port);
        Vec::new()
    }

    /// What starts instances of a definition in which it stands.
    ///
    /// # Errors
    /// The field, and a sentence.
    fn trigger(&self, node: &Node) -> Result<Option<Trigger>, Wrong> {
        let _ = node;
        Ok(None)
    }

    /// Begins.
    fn execute<'a>(&'a self, cx: &'a mut Cx<'_>) -> Doing<'a>;

    /// Goes on `at` a point it has named when it made a bookmark.
    fn resume<'a>(&'a self, cx: &'a mut Cx<'_>, at: &'a str, input: Values) -> Doing<'a> {
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

    /// It was ended by another, or the whole instance was. What it has asked others to do can be called off.
    fn cancelled(&self, cx: &mut Cx<'_>) {
        let _ = cx;
    }
}

/// What an activity that needs to wait for nothing did.
pub fn ready<'a>(step: Result<Step, Failure>) -> Doing<'a> {
    Box::pin(std::future::ready(step))
}

/// An activity that has nothing more to do.
#[must_use]
pub fn done<'a>() -> Doing<'a> {
    ready(Ok(Step::done()))
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
    /// Which of those it contains.
    pub index: usize,
    /// What was said of it when it was scheduled.
    pub tag: Value,
    /// How it ended.
    pub outcome: String,
}

/// What starts instances.
#[derive(Clone, Debug, PartialEq)]
pub struct Trigger {
    /// The name of the stimulus: the type of the activity.
    pub name: String,
    /// What its hash is made of.
    pub payload: Value,
    /// When it happens by itself.
    pub schedule: Option<Schedule>,
}

/// When something happens by itself.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Schedule {
    /// Once.
    At(lockwork_core::workflow::Time),
    /// Each time this much has passed.
    Every(crate::Length),
    /// Whenever a clock shows this.
    Cron(crate::Cron),
}

/// What cannot be in a definition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wrong {
    /// Where.
    pub field: String,
    /// What, and what to do about it.
    pub message: String,
}

impl Wrong {
    /// This is what is wrong there.
    pub fn new(field: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            field: field.into(),
            message: message.into(),
        }
    }
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
    /// What it gives that can go `into` a variable, if anything.
    pub gives: Option<&'static str>,
    /// Whether what it waits for can start instances.
    pub can_start: bool,
}

impl Descriptor {
    /// One that is given nothing, contains nothing and gives nothing.
    #[must_use]
    pub const fn new(kind: &'static str, about: &'static str) -> Self {
        Self {
            kind,
            about,
            inputs: &[],
            contains: Contains::Nothing,
            gives: None,
            can_start: false,
        }
    }

    /// What it is given.
    #[must_use]
    pub const fn given(mut self, inputs: &'static [Given]) -> Self {
        self.inputs = inputs;
        self
    }

    /// What it contains.
    #[must_use]
    pub const fn contains(mut self, contains: Contains) -> Self {
        self.contains = contains;
        self
    }

    /// What it gives.
    #[must_use]
    pub const fn gives(mut self, what: &'static str) -> Self {
        self.gives = Some(what);
        self
    }

    /// What it waits for can start instances.
    #[must_use]
    pub const fn can_start(mut self) -> Self {
        self.can_start = true;
        self
    }
}

/// Something that an activity is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Given {
    /// What it is called.
    pub name: &'static str,
    /// What it is.
    pub about: &'static str,
    /// Whether it does not go without.
    pub required: bool,
    /// Whether it is known before anything is executed: it has to be a plain value.
    pub fixed: bool,
    /// Whether people see it, so that nothing secret may go there.
    pub shown: bool,
    /// Names that expressions in it know besides.
    pub knows: &'static [&'static str],
}

impl Given {
    /// One that may be missing and may be an expression.
    #[must_use]
    pub const fn new(name: &'static str, about: &'static str) -> Self {
        Self {
            name,
            about,
            required: false,
            fixed: false,
            shown: false,
            knows: &[],
        }
    }

    /// It does not go without.
    #[must_use]
    pub const fn required(mut self) -> Self {
        self.required = true;
        self
    }

    /// It has to be a plain value.
    #[must_use]
    pub const fn fixed(mut self) -> Self {
        self.fixed = true;
        self
    }

    /// People see it.
    #[must_use]
    pub const fn shown(mut self) -> Self {
        self.shown = true;
        self
    }

    /// Expressions in it know these names besides: see [`Cx::value_with`].
    #[must_use]
    pub const fn knowing(mut self, names: &'static [&'static str]) -> Self {
        self.knows = names;
        self
    }
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
