//! One way or another.

use crate::{
    activity::{Activity, Contains, Descriptor, Doing, Given, Step, ready},
    burst::Cx,
};
use lockwork_core::workflow::{Failure, Value};

/// One of two.
#[derive(Debug)]
pub(super) struct If;

const IF: [Given; 1] = [Given::new("condition", "true or false").required()];

impl Activity for If {
    fn describe(&self) -> Descriptor {
        Descriptor::new(
            "If",
            "Runs `then` if a condition is true, otherwise `else`.",
        )
        .given(&IF)
        .contains(Contains::Ports {
            required: &[],
            optional: &["then", "else"],
        })
    }

    fn execute<'a>(&'a self, cx: &'a mut Cx<'_>) -> Doing<'a> {
        let way = cx.truth("condition");
        ready(way.and_then(|yes| way_of(cx, if yes == Some(true) { "then" } else { "else" }, None)))
    }
}

/// One of many.
#[derive(Debug)]
pub(super) struct Switch;

const SWITCH: [Given; 1] = [Given::new(
    "value",
    "what is compared with the names of the cases, as text",
)
.required()];

impl Activity for Switch {
    fn describe(&self) -> Descriptor {
        let about = "Runs the activity that is named as the value is, otherwise `default`.";
        Descriptor::new("Switch", about)
            .given(&SWITCH)
            .contains(Contains::Any)
    }

    fn execute<'a>(&'a self, cx: &'a mut Cx<'_>) -> Doing<'a> {
        ready(case(cx).and_then(|case| way_of(cx, &case, Some("default"))))
    }
}

/// One of two ways on, in a flowchart.
#[derive(Debug)]
pub(super) struct Decide;

impl Activity for Decide {
    fn describe(&self) -> Descriptor {
        let about = "Its outcome is `True` or `False`: a fork in the way of a flowchart.";
        Descriptor::new("Decide", about).given(&IF)
    }

    fn execute<'a>(&'a self, cx: &'a mut Cx<'_>) -> Doing<'a> {
        let yes = cx.truth("condition").map(|yes| yes == Some(true));
        ready(yes.map(|yes| Step::outcome(if yes { "True" } else { "False" })))
    }
}

const CHOOSE: [Given; 1] = [Given::new("value", "the outcome").required()];

/// One of many ways on, in a flowchart.
#[derive(Debug)]
pub(super) struct Choose;

impl Activity for Choose {
    fn describe(&self) -> Descriptor {
        let about = "Its outcome is a value, as text: many ways on in a flowchart.";
        Descriptor::new("Choose", about).given(&CHOOSE)
    }

    fn execute<'a>(&'a self, cx: &'a mut Cx<'_>) -> Doing<'a> {
        ready(case(cx).map(Step::outcome))
    }
}

/// A value as the name of a way.
fn case(cx: &Cx<'_>) -> Result<String, Failure> {
    cx.value("value").map(|value| match value {
        Some(Value::String(text)) => text,
        Some(other) => other.to_string(),
        None => String::new(),
    })
}

/// Takes the way called `port`. The outcome of whatever stands there is not asked for: this is done when it is.
fn way_of(cx: &mut Cx<'_>, port: &str, otherwise: Option<&str>) -> Result<Step, Failure> {
    let way = cx.port(port).or_else(|| cx.port(otherwise?));
    Ok(match way {
        None => Step::done(),
        Some(index) => {
            cx.schedule(index);
            Step::Wait
        }
    })
}
