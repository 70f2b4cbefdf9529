//! Things that happen outside, or in other instances.

use crate::{
    activity::{Activity, Descriptor, Doing, Given, Step, Trigger, Wrong, ready},
    burst::{Cx, Waiting},
    definition::{Input, Node},
};
use lockwork_core::workflow::{Addressee, Failure, Stimulus, StimulusHash, Value, Values};
use serde_json::json;

/// The name of the stimulus for which an `Event` waits; its payload is `{"name": …}`.
pub const EVENT: &str = "Event";

/// The name of the stimulus that ends a task; its payload is `{"task": …}`.
pub const TASK: &str = "RunTask";

/// Waits for an event.
#[derive(Debug)]
pub(super) struct Event;

const GIVEN: [Given; 1] = [Given::new("name", "of the event").required().shown()];

impl Activity for Event {
    fn describe(&self) -> Descriptor {
        Descriptor::new(
            EVENT,
            "Waits for an event, or starts instances when it happens.",
        )
        .given(&GIVEN)
        .gives("what the event brings")
        .can_start()
    }

    fn check(&self, node: &Node) -> Result<(), Wrong> {
        match node.with.get("name") {
            Some(Input::Value(Value::String(name))) => {
                StimulusHash::of(EVENT, &json!({ "name": name }), None)
                    .map(drop)
                    .map_err(|error| Wrong::new("with.name", error.to_string()))
            }
            Some(Input::Value(_)) => Err(Wrong::new("with.name", "the name of an event is a text")),
            _ => Ok(()),
        }
    }

    fn trigger(&self, node: &Node) -> Result<Option<Trigger>, Wrong> {
        match node.with.get("name") {
            Some(Input::Value(name)) => Ok(Some(Trigger {
                name: EVENT.to_owned(),
                payload: json!({ "name": name }),
                schedule: None,
            })),
            _ => {
                let message = "an event that starts instances has a name that is known beforehand";
                Err(Wrong::new("with.name", message))
            }
        }
    }

    fn execute<'a>(&'a self, cx: &'a mut Cx<'_>) -> Doing<'a> {
        if let Some(input) = cx.triggered() {
            cx.give(Value::Object(input));
            return ready(Ok(Step::done()));
        }
        let name = cx.required_text("name");
        ready(name.and_then(|name| {
            cx.wait(Waiting::on(EVENT, json!({ "name": name })))?;
            Ok(Step::Wait)
        }))
    }
}

/// Makes an event.
#[derive(Debug)]
pub(super) struct PublishEvent;

const PUBLISH: [Given; 4] = [
    Given::new("name", "of the event").required(),
    Given::new("payload", "what the event brings: an object"),
    Given::new("correlation", "for instances with this correlation alone"),
    Given::new("local", "`true`: for this instance alone"),
];

impl Activity for PublishEvent {
    fn describe(&self) -> Descriptor {
        let about = "Makes an event, for everybody who waits for it: this instance too. It happens once what was \
                     done so far is written down.";
        Descriptor::new("PublishEvent", about).given(&PUBLISH)
    }

    fn execute<'a>(&'a self, cx: &'a mut Cx<'_>) -> Doing<'a> {
        ready(publish(cx))
    }
}

fn publish(cx: &mut Cx<'_>) -> Result<Step, Failure> {
    let name = cx.required_text("name")?;
    let stimulus = Stimulus::new(EVENT, &json!({ "name": name }));
    let stimulus = stimulus.map_err(|error| Failure::new("stimulus", error.to_string()))?;
    let mut to = Addressee::default();
    to.correlation = cx.text("correlation")?;
    if cx.truth("local")? == Some(true) {
        to.instance = Some(cx.instance().clone());
    }
    let input = delivered(cx.value("payload")?);
    cx.send(stimulus.to(to).input(input));
    Ok(Step::done())
}

/// What is delivered is an object: anything else becomes one, with the one field `value`.
#[must_use]
pub fn delivered(value: Option<Value>) -> Values {
    match value {
        None | Some(Value::Null) => Values::new(),
        Some(Value::Object(fields)) => fields,
        Some(other) => Values::from_iter([("value".to_owned(), other)]),
    }
}

/// Has somebody outside do something.
#[derive(Debug)]
pub(super) struct RunTask;

const RUN: [Given; 2] = [
    Given::new("name", "what to do").required().shown(),
    Given::new("payload", "what with"),
];

impl Activity for RunTask {
    fn describe(&self) -> Descriptor {
        let about = "Asks somebody outside to do something, and waits until they say it is done.";
        Descriptor::new(TASK, about)
            .given(&RUN)
            .gives("what they say")
    }

    fn execute<'a>(&'a self, cx: &'a mut Cx<'_>) -> Doing<'a> {
        ready(run(cx))
    }
}

fn run(cx: &mut Cx<'_>) -> Result<Step, Failure> {
    let (name, payload) = (cx.required_text("name")?, cx.value("payload")?);
    // As the key: a task that is asked for again on purpose is another one.
    let id = cx.key();
    let bookmark = cx.wait(Waiting::on(TASK, json!({ "task": id })))?;
    cx.task(bookmark, id, name, payload.unwrap_or_default());
    Ok(Step::Wait)
}
