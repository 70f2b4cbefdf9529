//! Activities with arrows between them.
//!
//! An arrow is followed when the activity at its beginning ends with the outcome it is for. Where several arrows
//! meet, the activity there waits until nothing that is still under way could get there: so branches that were not
//! taken are not waited for, and nobody counts.

use crate::{
    activity::{Activity, Child, Contains, Descriptor, Doing, Given, Step, Wrong, ready},
    burst::Cx,
    definition::{Contents, Input, Node},
};
use lockwork_core::workflow::{Failure, Value};
use serde::Deserialize;
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};

/// Activities with arrows between them.
#[derive(Debug)]
pub(super) struct Flowchart;

const GIVEN: [Given; 3] = [
    Given::new("start", "the activity it begins with, by its name")
        .required()
        .fixed(),
    Given::new(
        "connections",
        "a list of {from, to}; `on` an outcome, `back` if it goes back",
    )
    .fixed(),
    Given::new(
        "joins",
        "by names: `any`, where the first arrow that is followed ends the others",
    )
    .fixed(),
];

/// What a definition says about the arrows.
#[derive(Debug)]
struct Chart {
    start: String,
    connections: Vec<Connection>,
    joins: BTreeMap<String, Join>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Connection {
    from: String,
    to: String,
    #[serde(default = "done")]
    on: String,
    #[serde(default)]
    back: bool,
}

fn done() -> String {
    Step::DONE.to_owned()
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
enum Join {
    All,
    Any,
}

impl Activity for Flowchart {
    fn describe(&self) -> Descriptor {
        let about = "Runs activities along the arrows between them. Where arrows meet, all that were followed are \
                     waited for.";
        Descriptor::new("Flowchart", about)
            .given(&GIVEN)
            .contains(Contains::Any)
    }

    fn check(&self, node: &Node) -> Result<(), Wrong> {
        let value = |name: &str| match node.with.get(name) {
            Some(Input::Value(value)) => Some(value.clone()),
            _ => None,
        };
        let chart = Chart::read(value)?;
        let names = match &node.contents {
            Contents::Ports(ports) => ports.keys().map(String::as_str).collect(),
            _ => BTreeSet::new(),
        };
        chart.check(&names)
    }

    fn execute<'a>(&'a self, cx: &'a mut Cx<'_>) -> Doing<'a> {
        ready(begin(cx))
    }

    fn child_done<'a>(&'a self, cx: &'a mut Cx<'_>, child: &'a Child) -> Doing<'a> {
        ready(go_on(cx, child))
    }
}

fn begin(cx: &mut Cx<'_>) -> Result<Step, Failure> {
    let chart = Chart::of(cx)?;
    match cx.port(&chart.start) {
        None => Ok(Step::done()),
        Some(start) => {
            cx.schedule(start);
            Ok(Step::Wait)
        }
    }
}

fn go_on(cx: &mut Cx<'_>, child: &Child) -> Result<Step, Failure> {
    let chart = Chart::of(cx)?;
    let name = |index: usize, cx: &Cx<'_>| cx.children().nth(index).flatten().map(str::to_owned);
    let over = name(child.index, cx).unwrap_or_default();
    let mut tokens: BTreeSet<String> =
        serde_json::from_value(cx.data().clone()).unwrap_or_default();
    let followed = chart.connections.iter();
    let followed = followed.filter(|one| one.from == over && one.on == child.outcome);
    for connection in followed {
        if chart.joins.get(&connection.to) == Some(&Join::Any) {
            for late in chart.before(&connection.to) {
                tokens.remove(late);
                if let Some(index) = cx.port(late) {
                    cx.withdraw(index);
                }
            }
        }
        tokens.insert(connection.to.clone());
    }
    let active: BTreeSet<String> = cx
        .active_children()
        .filter_map(|index| name(index, cx))
        .collect();
    for next in chart.ready(&tokens, &active) {
        tokens.remove(&next);
        if let Some(index) = cx.port(&next) {
            cx.schedule(index);
        }
    }
    cx.remember(json!(tokens));
    Ok(match cx.active() {
        0 => Step::done(),
        _ => Step::Wait,
    })
}

impl Chart {
    fn of(cx: &Cx<'_>) -> Result<Self, Failure> {
        let read = Self::read(|name| cx.value(name).ok().flatten());
        read.map_err(|wrong| Failure::new("flowchart", wrong.message))
    }

    fn read(value: impl Fn(&str) -> Option<Value>) -> Result<Self, Wrong> {
        fn field<T: serde::de::DeserializeOwned>(
            name: &str,
            value: Option<Value>,
        ) -> Result<Option<T>, Wrong> {
            let read = value.map(serde_json::from_value).transpose();
            read.map_err(|error| Wrong::new(format!("with.{name}"), error.to_string()))
        }
        Ok(Self {
            start: field("start", value("start"))?.unwrap_or_default(),
            connections: field("connections", value("connections"))?.unwrap_or_default(),
            joins: field("joins", value("joins"))?.unwrap_or_default(),
        })
    }

    /// Whether each arrow has a beginning and an end, each activity can be reached, and none is before itself.
    fn check(&self, names: &BTreeSet<&str>) -> Result<(), Wrong> {
        let known = |field: &str, name: &str| match names.contains(name) {
            true => Ok(()),
            false => Err(Wrong::new(
                field,
                format!("there is no activity called `{name}` here"),
            )),
        };
        known("with.start", &self.start)?;
        for (at, connection) in self.connections.iter().enumerate() {
            known(&format!("with.connections.{at}.from"), &connection.from)?;
            known(&format!("with.connections.{at}.to"), &connection.to)?;
        }
        self.joins
            .keys()
            .try_for_each(|name| known("with.joins", name))?;
        if let Some(turns) = names
            .iter()
            .find(|name| self.after(name, false).contains(*name))
        {
            let message = format!(
                "`{turns}` comes before itself: say `\"back\": true` at the connection that goes back"
            );
            return Err(Wrong::new("with.connections", message));
        }
        let reached = self.after(&self.start, true);
        match names
            .iter()
            .find(|name| **name != self.start && !reached.contains(*name))
        {
            None => Ok(()),
            Some(dangling) => {
                let message = format!("no way leads to `{dangling}`: connect it, or remove it");
                Err(Wrong::new("with.connections", message))
            }
        }
    }

    /// Those that can be reached from `name`, by one arrow or more.
    fn after<'a>(&'a self, name: &str, back: bool) -> BTreeSet<&'a str> {
        let (mut found, mut look) = (BTreeSet::new(), vec![name]);
        while let Some(from) = look.pop() {
            let next = self
                .connections
                .iter()
                .filter(|one| one.from == from && (back || !one.back));
            for connection in next {
                if found.insert(connection.to.as_str()) {
                    look.push(&connection.to);
                }
            }
        }
        found
    }

    /// Those from which `name` can be reached.
    fn before(&self, name: &str) -> BTreeSet<&str> {
        let all = self.connections.iter().map(|one| one.from.as_str());
        all.filter(|from| self.after(from, false).contains(name))
            .collect()
    }

    /// Those with a token to which nothing that is under way could bring another.
    fn ready(&self, tokens: &BTreeSet<String>, active: &BTreeSet<String>) -> Vec<String> {
        let free = |token: &&String| {
            let mut others = tokens.iter().chain(active).filter(|other| other != token);
            others.all(|other| !self.after(other, false).contains(token.as_str()))
        };
        tokens.iter().filter(free).cloned().collect()
    }
}
