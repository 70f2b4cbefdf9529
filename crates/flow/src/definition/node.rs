//! One activity in a definition, with what it contains.

use super::{Input, Length};
use lockwork_core::workflow::ActivityId;
use serde::Serialize;
use std::collections::BTreeMap;

/// One activity in a definition: its type, what it is given, and what it contains.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Node {
    /// Which activity.
    #[serde(rename = "type")]
    pub kind: String,
    /// What its author calls it. Not twice among those around it.
    pub id: ActivityId,
    /// Whether what it waits for starts new instances too.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub starts: bool,
    /// What it is given.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub with: BTreeMap<String, Input>,
    /// What it contains.
    #[serde(rename = "do", skip_serializing_if = "Contents::is_empty")]
    pub contents: Contents,
    /// Which variable its result goes to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub into: Option<String>,
    /// What to do when it fails.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retry: Option<Retry>,
}

impl Node {
    /// An activity of this `kind` that is given nothing and contains nothing.
    #[must_use]
    pub fn new(kind: impl Into<String>, id: ActivityId) -> Self {
        Self {
            kind: kind.into(),
            id,
            starts: false,
            with: BTreeMap::new(),
            contents: Contents::Nothing,
            into: None,
            retry: None,
        }
    }

    /// Those it contains, with the names of their ports where they have some.
    pub fn children(&self) -> impl Iterator<Item = (Option<&str>, &Self)> {
        let (list, ports) = match &self.contents {
            Contents::Nothing => (None, None),
            Contents::List(list) => (Some(list), None),
            Contents::Ports(ports) => (None, Some(ports)),
        };
        let list = list.into_iter().flatten().map(|node| (None, node));
        let ports = ports.into_iter().flatten();
        list.chain(ports.map(|(port, node)| (Some(port.as_str()), node)))
    }
}

/// What an activity contains.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Contents {
    /// Nothing.
    #[default]
    Nothing,
    /// Several, in this order.
    List(Vec<Node>),
    /// One for each of these ports.
    Ports(BTreeMap<String, Node>),
}

impl Contents {
    fn is_empty(&self) -> bool {
        matches!(self, Self::Nothing)
    }
}

/// Trying again what failed.
#[derive(Clone, Debug, PartialEq, Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Retry {
    /// How often, after the first time.
    pub times: u32,
    /// How long to wait before the first of them.
    pub after: Length,
    /// How many times as long to wait before each following one.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub factor: f64,
    /// The longest wait.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_most: Option<Length>,
    /// The codes of failures that are worth it; all, if none is named.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub on: Vec<String>,
}

impl Retry {
    /// So often, each time after the same wait, whatever the failure.
    pub fn new(times: u32, after: impl Into<Length>) -> Self {
        Self {
            times,
            after: after.into(),
            factor: one(),
            at_most: None,
            on: Vec::new(),
        }
    }

    /// How many times as long to wait before each following one.
    #[must_use]
    pub fn factor(mut self, factor: f64) -> Self {
        self.factor = factor;
        self
    }

    /// The longest wait.
    #[must_use]
    pub fn at_most(mut self, at_most: impl Into<Length>) -> Self {
        self.at_most = Some(at_most.into());
        self
    }

    /// A failure with this code is worth it.
    #[must_use]
    pub fn on(mut self, code: impl Into<String>) -> Self {
        self.on.push(code.into());
        self
    }
}

const fn one() -> f64 {
    1.0
}

#[expect(
    clippy::float_cmp,
    clippy::trivially_copy_pass_by_ref,
    reason = "as serde calls it; what was not said"
)]
fn is_one(factor: &f64) -> bool {
    *factor == 1.0
}
