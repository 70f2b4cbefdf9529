//! What instances remember, give and say.

use crate::{
    activity::{Activity, Descriptor, Doing, Given, Step, done, ready},
    burst::Cx,
};
use lockwork_core::workflow::{Failure, Value};

const NAME: Given = Given::new("name", "which one").required().fixed().shown();
const VALUE: Given = Given::new("value", "what it becomes").required();

/// A variable.
#[derive(Debug)]
pub(super) struct SetVariable;

const SET: [Given; 2] = [NAME, VALUE];

impl Activity for SetVariable {
    fn describe(&self) -> Descriptor {
        Descriptor::new("SetVariable", "Changes a variable.").given(&SET)
    }

    fn execute<'a>(&'a self, cx: &'a mut Cx<'_>) -> Doing<'a> {
        ready(set(cx, Cx::set_variable))
    }
}

/// An output.
#[derive(Debug)]
pub(super) struct SetOutput;

impl Activity for SetOutput {
    fn describe(&self) -> Descriptor {
        Descriptor::new("SetOutput", "Changes what the instance gives.").given(&SET)
    }

    fn execute<'a>(&'a self, cx: &'a mut Cx<'_>) -> Doing<'a> {
        ready(set(cx, Cx::set_output))
    }
}

fn set<'b>(
    cx: &mut Cx<'b>,
    set: impl Fn(&mut Cx<'b>, String, Value) -> Result<(), Failure>,
) -> Result<Step, Failure> {
    let name = cx.required_text("name")?;
    let value = cx.value("value")?.unwrap_or_default();
    set(cx, name, value)?;
    Ok(Step::done())
}

/// The correlation.
#[derive(Debug)]
pub(super) struct Correlate;

const CORRELATE: [Given; 1] = [Given::new("id", "an order number, say").required().shown()];

impl Activity for Correlate {
    fn describe(&self) -> Descriptor {
        let about = "Says by what stimuli find the instance together with others.";
        Descriptor::new("Correlate", about).given(&CORRELATE)
    }

    fn execute<'a>(&'a self, cx: &'a mut Cx<'_>) -> Doing<'a> {
        let id = cx.required_text("id");
        ready(id.map(|id| {
            cx.correlate(id);
            Step::done()
        }))
    }
}

/// The name of the instance.
#[derive(Debug)]
pub(super) struct SetName;

const RENAME: [Given; 1] = [Given::new("name", "what people call the instance")
    .required()
    .shown()];

impl Activity for SetName {
    fn describe(&self) -> Descriptor {
        Descriptor::new("SetName", "Says what people call the instance.").given(&RENAME)
    }

    fn execute<'a>(&'a self, cx: &'a mut Cx<'_>) -> Doing<'a> {
        let name = cx.required_text("name");
        ready(name.map(|name| {
            cx.rename(name);
            Step::done()
        }))
    }
}

/// A line in the journal.
#[derive(Debug)]
pub(super) struct Log;

const LOG: [Given; 1] = [Given::new("text", "what to say").required()];

impl Activity for Log {
    fn describe(&self) -> Descriptor {
        let about = "Writes a line into the journal. What is secret is left out of it.";
        Descriptor::new("Log", about).given(&LOG)
    }

    fn execute<'a>(&'a self, cx: &'a mut Cx<'_>) -> Doing<'a> {
        let text = cx.shown("text").map(|text| match text {
            Some(Value::String(text)) => text,
            Some(other) => other.to_string(),
            None => String::new(),
        });
        ready(text.map(|text| {
            cx.log(text);
            Step::done()
        }))
    }
}

/// The end.
#[derive(Debug)]
pub(super) struct Finish;

impl Activity for Finish {
    fn describe(&self) -> Descriptor {
        Descriptor::new(
            "Finish",
            "Ends the instance, whatever is still under way in it.",
        )
    }

    fn execute<'a>(&'a self, cx: &'a mut Cx<'_>) -> Doing<'a> {
        cx.finish();
        done()
    }
}
