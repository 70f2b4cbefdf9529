//! Activities before their definition is built.

use crate::definition::{
    Input, Node, Retry,
    read::{Inside, Unread, wrong},
};
use lockwork_core::workflow::{ActivityId, Error, Result};
use std::collections::BTreeMap;

/// An activity of a definition that is not built yet. What cannot be is told by
/// [`Workflow::build`](super::Workflow::build), with the place.
#[derive(Clone, Debug)]
#[must_use = "an activity does nothing unless it stands in a workflow"]
pub struct Draft {
    kind: String,
    id: String,
    starts: bool,
    pub(super) with: BTreeMap<String, Input>,
    inside: Inside<Self>,
    into: Option<String>,
    retry: Option<Retry>,
    /// The first thing about it that could not be.
    mistake: Option<Error>,
}

/// An activity of this `kind`, for those that have no function of their own here.
///
/// ```
/// use lockwork_flow::build::*;
///
/// let greet = activity("Greet", "hello").with("who", expr("input.who")).into("answer");
/// ```
pub fn activity(kind: impl Into<String>, id: impl Into<String>) -> Draft {
    Draft {
        kind: kind.into(),
        id: id.into(),
        starts: false,
        with: BTreeMap::new(),
        inside: Inside::Nothing,
        into: None,
        retry: None,
        mistake: None,
    }
}

impl Draft {
    /// What it is given under this name: a value, an [expression](super::expr) or a [text](super::text).
    ///
    /// ```
    /// use lockwork_flow::build::*;
    ///
    /// let ask = http("ask", text("https://example.com/{{ input.id }}")).with("method", "POST").with("timeout", "5s");
    /// ```
    pub fn with(mut self, name: impl Into<String>, input: impl Into<Input>) -> Self {
        self.with.insert(name.into(), input.into().written());
        self
    }

    /// Which variable its result goes to.
    ///
    /// ```
    /// use lockwork_flow::build::*;
    ///
    /// let wait = event("approval", "OrderApproved").into("decision");
    /// ```
    pub fn into(mut self, variable: impl Into<String>) -> Self {
        self.into = Some(variable.into());
        self
    }

    /// What to do when it fails.
    ///
    /// ```
    /// use lockwork_flow::{Retry, build::*};
    /// use std::time::Duration;
    ///
    /// let policy = Retry::new(3, Duration::from_secs(10)).factor(2.0).on("http.status");
    /// let ask = http("ask", "https://example.com").retry(policy);
    /// ```
    pub fn retry(mut self, retry: Retry) -> Self {
        self.retry = Some(retry);
        self
    }

    /// What it waits for starts new instances too.
    ///
    /// ```
    /// use lockwork_flow::build::*;
    ///
    /// let nightly = cron("nightly", "0 3 * * *").starts();
    /// ```
    pub fn starts(mut self) -> Self {
        self.starts = true;
        self
    }

    /// It contains these, in this order.
    ///
    /// ```
    /// use lockwork_flow::build::*;
    ///
    /// let mine = activity("Pipeline", "all").activities([log("a", "first"), log("b", "then")]);
    /// ```
    pub fn activities(mut self, list: impl IntoIterator<Item = Self>) -> Self {
        match self.inside {
            Inside::Nothing => {
                self.inside = Inside::List(list.into_iter().collect());
                self
            }
            _ => self.wrong(wrong(BOTH).with("field", "do")),
        }
    }

    /// It contains `activity` under this name: a case of a switch, an activity of a flowchart, or a port.
    ///
    /// ```
    /// use lockwork_flow::build::*;
    ///
    /// let level = switch("level", expr("input.level"))
    ///     .activity("gold", log("gold", "hurry"))
    ///     .activity("default", log("usual", "as usual"));
    /// ```
    pub fn activity(mut self, name: impl Into<String>, activity: Self) -> Self {
        let name = name.into();
        if matches!(self.inside, Inside::Nothing) {
            self.inside = Inside::Ports(Vec::new());
        }
        let mistake = match &mut self.inside {
            Inside::Ports(ports) if ports.iter().any(|(port, _)| *port == name) => {
                wrong("this name is there twice").with("name", name)
            }
            Inside::Ports(ports) => {
                ports.push((name, activity));
                return self;
            }
            _ => wrong(BOTH),
        };
        self.wrong(mistake.with("field", "do"))
    }

    /// The first mistake is the one that is told.
    pub(super) fn wrong(mut self, mistake: Error) -> Self {
        self.mistake.get_or_insert(mistake);
        self
    }
}

const BOTH: &str = "an activity contains one list of activities, or activities by their names";

impl Unread for Draft {
    fn id(&mut self) -> Result<ActivityId> {
        ActivityId::new(&self.id).map_err(|error| error.with("field", "id"))
    }

    fn open(self, id: ActivityId) -> Result<(Node, Inside<Self>)> {
        if let Some(mistake) = self.mistake {
            return Err(mistake);
        }
        let mut node = Node::new(self.kind, id);
        node.starts = self.starts;
        node.with = self.with;
        node.into = self.into;
        node.retry = self.retry;
        Ok((node, self.inside))
    }
}
