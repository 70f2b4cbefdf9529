//! Doing something around each call of an activity, whatever activity it is: watching it, timing it.

use crate::{
    activity::{Activity, Child, Descriptor, Doing, Trigger, Wrong},
    burst::Cx,
    definition::Node,
    signal::{Answer, Signal},
};
use lockwork_core::workflow::Values;
use std::{fmt, sync::Arc};

/// Something that is done around each call by which an activity gets on. See
/// [`Registry::around`](crate::Registry::around).
pub trait Around: fmt::Debug + Send + Sync {
    /// Has the activity [called](Calling::call), and does what it likes before and after. Dropped when the call is.
    fn around<'a>(&'a self, cx: &'a mut Cx<'_>, calling: Calling<'a>) -> Doing<'a>;
}

/// A call that is about to be made.
#[derive(Debug)]
pub struct Calling<'a> {
    activity: &'a dyn Activity,
    how: How<'a>,
}

#[derive(Debug)]
enum How<'a> {
    Execute,
    Resume(&'a str, Values),
    ChildDone(&'a Child),
}

impl<'a> Calling<'a> {
    /// Of what kind the activity is.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        self.activity.describe().kind
    }

    /// What it is told: the name of a method of [`Activity`].
    #[must_use]
    pub const fn method(&self) -> &'static str {
        match self.how {
            How::Execute => "execute",
            How::Resume(..) => "resume",
            How::ChildDone(_) => "child_done",
        }
    }

    /// Makes it.
    pub fn call(self, cx: &'a mut Cx<'_>) -> Doing<'a> {
        match self.how {
            How::Execute => self.activity.execute(cx),
            How::Resume(at, input) => self.activity.resume(cx, at, input),
            How::ChildDone(child) => self.activity.child_done(cx, child),
        }
    }
}

/// An activity with something around it.
#[derive(Debug)]
pub(crate) struct Surrounded {
    pub(crate) activity: Arc<dyn Activity>,
    pub(crate) around: Arc<dyn Around>,
}

impl Surrounded {
    fn call<'a>(&'a self, cx: &'a mut Cx<'_>, how: How<'a>) -> Doing<'a> {
        let activity = &*self.activity;
        self.around.around(cx, Calling { activity, how })
    }
}

impl Activity for Surrounded {
    fn describe(&self) -> Descriptor {
        self.activity.describe()
    }

    fn check(&self, node: &Node) -> Result<(), Wrong> {
        self.activity.check(node)
    }

    fn names(&self, node: &Node, port: Option<&str>) -> Vec<String> {
        self.activity.names(node, port)
    }

    fn trigger(&self, node: &Node) -> Result<Option<Trigger>, Wrong> {
        self.activity.trigger(node)
    }

    fn execute<'a>(&'a self, cx: &'a mut Cx<'_>) -> Doing<'a> {
        self.call(cx, How::Execute)
    }

    fn resume<'a>(&'a self, cx: &'a mut Cx<'_>, at: &'a str, input: Values) -> Doing<'a> {
        self.call(cx, How::Resume(at, input))
    }

    fn child_done<'a>(&'a self, cx: &'a mut Cx<'_>, child: &'a Child) -> Doing<'a> {
        self.call(cx, How::ChildDone(child))
    }

    fn signal(&self, cx: &mut Cx<'_>, signal: &Signal) -> Answer {
        self.activity.signal(cx, signal)
    }

    fn cancelled(&self, cx: &mut Cx<'_>) {
        self.activity.cancelled(cx);
    }
}
