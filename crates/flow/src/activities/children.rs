//! Other instances.

use super::events::delivered;
use crate::{
    activity::{Activity, Child, Contains, Descriptor, Doing, Given, Step, Wrong, ready},
    burst::{Cx, Waiting},
    definition::{Input, Node},
};
use lockwork_core::workflow::{
    Create, DefinitionHandle, DefinitionId, ExecutionId, Failure, InstanceId, Parent, SubStatus,
    Value, Values,
};
use serde_json::json;
use std::collections::BTreeSet;

/// The name of the stimulus by which an instance tells its parent that it is over.
pub(crate) const CHILD: &str = "Child";

/// What the hash of that stimulus is made of.
pub(crate) fn payload(parent: &InstanceId, waiting: &ExecutionId) -> Value {
    json!({ "parent": parent, "execution": waiting })
}

const DEFINITION: Given = Given::new("definition", "of which workflow, by its id").required();
const INPUT: Given = Given::new("input", "what it is given: an object");
const CORRELATION: Given = Given::new("correlation", "of the other instance").shown();
const WAIT: Given = Given::new("wait", "`true`: until it is over");

/// Has another instance run, and waits for it or not.
#[derive(Debug)]
pub(super) struct DispatchWorkflow;

const DISPATCH: [Given; 4] = [DEFINITION, INPUT, CORRELATION, WAIT];

impl Activity for DispatchWorkflow {
    fn describe(&self) -> Descriptor {
        let about = "Starts an instance of another workflow, and waits for its end if told so.";
        Descriptor::new("DispatchWorkflow", about)
            .given(&DISPATCH)
            .gives("`instance`, and if it waited `status` and `output`")
    }

    fn execute<'a>(&'a self, cx: &'a mut Cx<'_>) -> Doing<'a> {
        Box::pin(async move {
            let wait = cx.truth("wait")? == Some(true);
            let instance = dispatch(cx, wait).await?;
            if wait {
                return Ok(Step::Wait);
            }
            cx.give(json!({ "instance": instance }));
            Ok(Step::done())
        })
    }

    fn resume<'a>(&'a self, cx: &'a mut Cx<'_>, _: &'a str, input: Values) -> Doing<'a> {
        if !waits_for(cx, &input) {
            return ready(Ok(Step::Wait));
        }
        cx.give(Value::Object(input));
        ready(Ok(Step::done()))
    }

    fn cancelled(&self, cx: &mut Cx<'_>) {
        call_off(cx);
    }
}

/// Has another instance run, waits for it, and fails if it did.
#[derive(Debug)]
pub(super) struct ExecuteWorkflow;

const EXECUTE: [Given; 3] = [DEFINITION, INPUT, CORRELATION];

impl Activity for ExecuteWorkflow {
    fn describe(&self) -> Descriptor {
        let about = "Runs another workflow to its end, and fails if that does.";
        Descriptor::new("ExecuteWorkflow", about)
            .given(&EXECUTE)
            .gives("the output of the other instance")
    }

    fn execute<'a>(&'a self, cx: &'a mut Cx<'_>) -> Doing<'a> {
        Box::pin(async move {
            dispatch(cx, true).await?;
            Ok(Step::Wait)
        })
    }

    fn resume<'a>(&'a self, cx: &'a mut Cx<'_>, _: &'a str, mut input: Values) -> Doing<'a> {
        if !waits_for(cx, &input) {
            return ready(Ok(Step::Wait));
        }
        ready(match finished(&input) {
            true => {
                cx.give(input.remove("output").unwrap_or_default());
                Ok(Step::done())
            }
            false => {
                let status = input
                    .get("status")
                    .and_then(Value::as_str)
                    .unwrap_or_default();
                let message = format!("the other instance is {status}");
                Err(Failure::new("workflow.failed", message))
            }
        })
    }

    fn cancelled(&self, cx: &mut Cx<'_>) {
        call_off(cx);
    }
}

fn finished(input: &Values) -> bool {
    let status = input.get("status").cloned();
    let status = status.and_then(|status| serde_json::from_value(status).ok());
    status == Some(SubStatus::Finished)
}

/// Starts one, and makes a bookmark if somebody waits.
async fn dispatch(cx: &mut Cx<'_>, wait: bool) -> Result<InstanceId, Failure> {
    let handle = handle(cx).await?;
    let input = delivered(cx.value("input")?);
    let correlation = cx.text("correlation")?;
    let instance = start(cx, handle, input, correlation, wait)?;
    if wait {
        // It stays until the one that is waited for is over: somebody could tell of an earlier one once more.
        let waiting = Waiting::on(CHILD, payload(cx.instance(), &cx.execution()));
        cx.wait(waiting.at("over").stays())?;
        cx.remember(json!([number_of(cx.instance(), instance.as_str())]));
    }
    Ok(instance)
}

/// The version that is published now: whoever is started later is started with this one.
async fn handle(cx: &mut Cx<'_>) -> Result<DefinitionHandle, Failure> {
    let id = DefinitionId::new(&cx.required_text("definition")?);
    let id = id.map_err(|error| Failure::new("definition.missing", error.to_string()))?;
    let version = cx.version(&DefinitionHandle::published(id)).await?;
    Ok(DefinitionHandle::Version(version))
}

fn start(
    cx: &mut Cx<'_>,
    handle: DefinitionHandle,
    input: Values,
    correlation: Option<String>,
    wait: bool,
) -> Result<InstanceId, Failure> {
    let parent = Parent {
        instance: cx.instance().clone(),
        waiting: wait.then(|| cx.execution()),
    };
    let mut create = Create::new(handle).input(input).parent(parent);
    create.correlation = correlation;
    cx.dispatch(create)
}

/// Those it waits for are ended with it.
fn call_off(cx: &mut Cx<'_>) {
    let data = cx.data();
    let waiting = data.get("waiting").unwrap_or(data).clone();
    for id in waited(cx.instance(), &waiting) {
        cx.cancel(id);
    }
}

/// Whether `input` tells of the end of one that it waits for.
fn waits_for(cx: &Cx<'_>, input: &Values) -> bool {
    let over = input.get("instance").and_then(Value::as_str);
    over.is_some_and(|over| waited(cx.instance(), cx.data()).contains(over))
}

/// Those with these numbers.
fn waited(parent: &InstanceId, numbers: &Value) -> BTreeSet<InstanceId> {
    let numbers = numbers
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_u64);
    let ids = numbers.filter_map(|number| InstanceId::new(&format!("{parent}.{number}")).ok());
    ids.collect()
}

/// What tells a child from the others: with thousands of them, whole names would be copied again and again.
fn number_of(parent: &InstanceId, child: &str) -> Option<u64> {
    child
        .strip_prefix(parent.as_str())?
        .strip_prefix('.')?
        .parse()
        .ok()
}

/// Has many instances run, one for each item.
#[derive(Debug)]
pub(super) struct BulkDispatch;

const BULK: [Given; 5] = [
    DEFINITION,
    Given::new(
        "items",
        "a list; an object is what an instance is given, anything else becomes its `item`",
    )
    .required(),
    INPUT,
    Given::new(
        "correlation",
        "of each instance; `item` and `index` are known",
    )
    .shown()
    .knowing(&["item", "index"]),
    WAIT,
];

impl Activity for BulkDispatch {
    fn describe(&self) -> Descriptor {
        let about = "Starts an instance of another workflow for each item of a list, and waits for all of them if told \
                     so. `completed` and `faulted` are run for each that ends so.";
        Descriptor::new("BulkDispatch", about)
            .given(&BULK)
            .contains(Contains::Ports {
                required: &[],
                optional: &["completed", "faulted"],
            })
            .gives("`instances`, and if it waited how many are `completed` and `faulted`")
    }

    fn check(&self, node: &Node) -> Result<(), Wrong> {
        let waits = node
            .with
            .get("wait")
            .is_some_and(|wait| *wait != Input::Value(false.into()));
        match node.children().next().is_some() && !waits {
            true => Err(Wrong::new(
                "do",
                "whoever does not wait is not told how the others end",
            )),
            false => Ok(()),
        }
    }

    fn names(&self, _: &Node, _: Option<&str>) -> Vec<String> {
        vec!["child".to_owned()]
    }

    fn execute<'a>(&'a self, cx: &'a mut Cx<'_>) -> Doing<'a> {
        Box::pin(bulk(cx))
    }

    fn resume<'a>(&'a self, cx: &'a mut Cx<'_>, _: &'a str, input: Values) -> Doing<'a> {
        ready(one_over(cx, input))
    }

    fn child_done<'a>(&'a self, cx: &'a mut Cx<'_>, _: &'a Child) -> Doing<'a> {
        ready(Ok(joined(cx)))
    }

    fn cancelled(&self, cx: &mut Cx<'_>) {
        call_off(cx);
    }
}

async fn bulk(cx: &mut Cx<'_>) -> Result<Step, Failure> {
    let wait = cx.truth("wait")? == Some(true);
    let handle = handle(cx).await?;
    let common = delivered(cx.value("input")?);
    // All are known before the first is started: what fails half way has started none.
    let mut each = Vec::new();
    for (index, item) in cx.list("items")?.into_iter().enumerate() {
        let scope = Values::from_iter([
            ("item".to_owned(), item.clone()),
            ("index".to_owned(), json!(index)),
        ]);
        let correlation = cx.value_with("correlation", &scope)?;
        let correlation = correlation.and_then(|text| text.as_str().map(str::to_owned));
        let mut input = common.clone();
        match item {
            Value::Object(fields) => input.extend(fields),
            other => drop(input.insert("item".to_owned(), other)),
        }
        each.push((input, correlation));
    }
    let mut instances = Vec::new();
    for (input, correlation) in each {
        instances.push(start(cx, handle.clone(), input, correlation, wait)?);
    }
    if !wait || instances.is_empty() {
        cx.give(json!({ "instances": instances, "completed": 0, "faulted": 0 }));
        return Ok(Step::done());
    }
    let waiting = Waiting::on(CHILD, payload(cx.instance(), &cx.execution()));
    cx.wait(waiting.at("over").stays())?;
    let numbers: Vec<_> = instances
        .iter()
        .filter_map(|child| number_of(cx.instance(), child.as_str()))
        .collect();
    cx.remember(json!({ "waiting": numbers, "all": numbers, "completed": 0, "faulted": 0 }));
    Ok(Step::Wait)
}

/// One of them is over. Each counts once, however often it is told.
fn one_over(cx: &mut Cx<'_>, input: Values) -> Result<Step, Failure> {
    let mut data = cx.data().clone();
    let over = input
        .get("instance")
        .and_then(Value::as_str)
        .unwrap_or_default();
    let waiting = data.get_mut("waiting").and_then(Value::as_array_mut);
    let at = waiting
        .as_ref()
        .zip(number_of(cx.instance(), over))
        .and_then(|(numbers, over)| {
            numbers
                .iter()
                .position(|number| number.as_u64() == Some(over))
        });
    let (Some(waiting), Some(at)) = (waiting, at) else {
        return Ok(Step::Wait);
    };
    waiting.remove(at);
    let port = if finished(&input) {
        "completed"
    } else {
        "faulted"
    };
    let count = data.get(port).and_then(Value::as_u64).unwrap_or(0);
    data[port] = json!(count + 1);
    cx.remember(data);
    if let Some(index) = cx.port(port) {
        let scope = Values::from_iter([("child".to_owned(), Value::Object(input))]);
        cx.schedule_with(index, Value::Null, scope);
    }
    Ok(joined(cx))
}

/// Whether all of them are over, and whatever was run for each.
fn joined(cx: &mut Cx<'_>) -> Step {
    let data = cx.data();
    let waits = data["waiting"]
        .as_array()
        .is_some_and(|left| !left.is_empty());
    if waits || cx.active() > 0 {
        return Step::Wait;
    }
    let given = json!({
        "instances": waited(cx.instance(), &data["all"]),
        "completed": data["completed"],
        "faulted": data["faulted"],
    });
    cx.give(given);
    Step::done()
}
