//! Activities with arrows between them.
//!
//! An arrow is followed when the activity at its beginning ends with the outcome it is for. Where several arrows
//! meet, the activity there waits until nothing that is still under way could get there: so branches that were not
//! taken are not waited for, and nobody counts.

mod chart;

use crate::{
    activity::{Activity, Child, Contains, Descriptor, Doing, Given, Step, Wrong, ready},
    burst::Cx,
    definition::{Contents, Input, Node},
};
use chart::Chart;
use lockwork_core::workflow::Failure;
use serde_json::json;
use std::collections::BTreeSet;

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

impl Activity for Flowchart {
    fn describe(&self) -> Descriptor {
        let about = "Runs activities along the arrows between them. Where arrows meet, all that were followed are \
                     waited for.";
        Descriptor::new("Flowchart", about)
            .given(&GIVEN)
            .contains(Contains::Any)
    }

    fn check(&self, node: &Node) -> Result<(), Wrong> {
        let chart = Chart::read(|name| match node.with.get(name) {
            Some(Input::Value(value)) => Some(value),
            _ => None,
        })?;
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
    let start = cx.port(&Chart::of(cx)?.start);
    Ok(match start {
        None => Step::done(),
        Some(start) => {
            cx.schedule(start);
            Step::Wait
        }
    })
}

fn go_on(cx: &mut Cx<'_>, child: &Child) -> Result<Step, Failure> {
    let next = Chart::of(cx)?.next(cx, child);
    for late in next.late {
        cx.withdraw(late);
    }
    for index in next.ready {
        cx.schedule(index);
    }
    cx.remember(json!(next.tokens));
    Ok(match cx.active() {
        0 => Step::done(),
        _ => Step::Wait,
    })
}
