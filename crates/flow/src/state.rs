//! What is known of an instance between two steps. All of it is data.

use lockwork_core::workflow::{
    ActivityStatus, Bookmark, Error, ErrorKind, Incident, InstanceId, NodeId, Parent, Result,
    Status, SubStatus, Time, Value, Values, VersionId,
};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, VecDeque};

/// The form of states that this version reads and writes.
pub const STATE_FORMAT: u32 = 1;

/// One execution of an activity, by its number in the instance.
pub type Number = u64;

/// What is known of an instance. Between two steps it can be written down, and read again elsewhere.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct State {
    /// The form it is written in.
    pub format: u32,
    /// The instance.
    pub instance: InstanceId,
    /// What it is an instance of.
    pub version: VersionId,
    /// How far it is.
    pub sub_status: SubStatus,
    /// By what stimuli find it together with others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub correlation: Option<String>,
    /// What people call it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Who created it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<Parent>,
    /// What it was given.
    #[serde(default)]
    pub input: Values,
    /// What it has given so far.
    #[serde(default)]
    pub output: Values,
    /// What it remembers.
    #[serde(default)]
    pub variables: Values,
    /// The executions that are not over, and those they belong to.
    #[serde(default)]
    pub contexts: BTreeMap<Number, Context>,
    /// By what it was started, until that activity is executed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trigger: Option<Triggered>,
    /// What is to be done, in this order.
    #[serde(default)]
    pub queue: VecDeque<Work>,
    /// Where it waits.
    #[serde(default)]
    pub bookmarks: Vec<Bookmark>,
    /// What failed in it.
    #[serde(default)]
    pub incidents: Vec<Incident>,
    /// The next number for whatever is counted in it.
    pub next: Number,
    /// How many entries its journal has.
    pub entries: u64,
    /// When it was created.
    pub created: Time,
    /// When it was over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub finished: Option<Time>,
}

impl State {
    /// That of an instance of which nothing was executed.
    #[must_use]
    pub fn new(instance: InstanceId, version: VersionId, created: Time) -> Self {
        Self {
            format: STATE_FORMAT,
            instance,
            version,
            sub_status: SubStatus::Pending,
            correlation: None,
            name: None,
            parent: None,
            input: Values::new(),
            output: Values::new(),
            variables: Values::new(),
            contexts: BTreeMap::new(),
            trigger: None,
            queue: VecDeque::new(),
            bookmarks: Vec::new(),
            incidents: Vec::new(),
            next: 1,
            entries: 0,
            created,
            finished: None,
        }
    }

    /// Reads a state.
    ///
    /// # Errors
    /// [`ErrorKind::Unsupported`] if a newer version has written it, [`ErrorKind::Invalid`] if it is none.
    pub fn from_value(json: Value) -> Result<Self> {
        let format = json.get("format").and_then(Value::as_u64);
        if format.is_some_and(|format| format > STATE_FORMAT.into()) {
            let message = "the state of this instance was written by a newer version of lockwork: update \
                           this node, or let another one run it";
            let format = format.unwrap_or_default();
            return Err(Error::new(ErrorKind::Unsupported, message).with("format", format));
        }
        serde_json::from_value(json).map_err(|error| {
            let message = format!("this is no state of an instance: {error}");
            Error::new(ErrorKind::Invalid, message)
        })
    }

    /// Where somebody can resume it: nowhere, once it is over.
    #[must_use]
    pub fn waiting(&self) -> &[Bookmark] {
        match self.sub_status.status() {
            Status::Running => &self.bookmarks,
            Status::Finished => &[],
        }
    }

    pub(crate) fn number(&mut self) -> Number {
        let number = self.next;
        self.next += 1;
        number
    }
}

/// One execution of an activity that is not over.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Context {
    /// The activity.
    pub node: NodeId,
    /// The execution that scheduled it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner: Option<Number>,
    /// How far it is.
    pub status: ActivityStatus,
    /// What its owner said of it.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub tag: Value,
    /// Names that it and those inside of it know besides: the item of a loop.
    #[serde(default, skip_serializing_if = "Values::is_empty")]
    pub scope: Values,
    /// What the activity remembers.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub data: Value,
    /// How often it was begun again, by whomever: part of its [key](crate::Cx::key).
    #[serde(default, skip_serializing_if = "is_zero")]
    pub attempt: u32,
    /// How often its retry policy has begun it again.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub retried: u32,
}

impl Context {
    /// A first execution of `node`, which nobody has scheduled.
    pub(crate) fn new(node: NodeId) -> Self {
        Self {
            node,
            owner: None,
            status: ActivityStatus::Pending,
            tag: Value::Null,
            scope: Values::new(),
            data: Value::Null,
            attempt: 0,
            retried: 0,
        }
    }
}

/// What started an instance.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Triggered {
    /// The activity that would have waited for it.
    pub node: NodeId,
    /// What is delivered there.
    #[serde(default)]
    pub input: Values,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde calls it")]
const fn is_zero(number: &u32) -> bool {
    *number == 0
}

/// Something to be done.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Work {
    /// Execute this one, from its beginning.
    Execute(Number),
    /// Go on with this one, at a point it has named, or complete it.
    Resume {
        /// The execution.
        execution: Number,
        /// The point, if it has named one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        at: Option<String>,
        /// What is delivered.
        #[serde(default, skip_serializing_if = "Values::is_empty")]
        input: Values,
    },
}

impl Work {
    pub(crate) const fn execution(&self) -> Number {
        match self {
            Self::Execute(execution) | Self::Resume { execution, .. } => *execution,
        }
    }
}
