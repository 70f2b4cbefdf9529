//! All items at once.

use super::loops::{AS, BODY, ends, named, names, scope};
use crate::{
    activity::{Activity, Child, Descriptor, Doing, Given, Step, Wrong, ready},
    burst::Cx,
    definition::{Input, Node},
    signal::{Answer, Signal},
};
use lockwork_core::workflow::{Failure, Value};
use serde_json::json;

/// All items at once, or so many.
#[derive(Debug)]
pub(super) struct ParallelForEach;

const MOST: &str = "atMost";
const GIVEN: [Given; 3] = [
    Given::new("items", "a list").required(),
    AS,
    Given::new(MOST, "how many at once; all, if nothing is said").fixed(),
];

impl Activity for ParallelForEach {
    fn describe(&self) -> Descriptor {
        let about = "Runs `body` for all items of a list, side by side. Inside of it, `item` and `index` are known.";
        Descriptor::new("ParallelForEach", about)
            .given(&GIVEN)
            .contains(BODY)
    }

    fn check(&self, node: &Node) -> Result<(), Wrong> {
        named(node)?;
        match node.with.get(MOST) {
            None => Ok(()),
            Some(Input::Value(Value::Number(most))) if most.as_u64() > Some(0) => Ok(()),
            Some(_) => Err(Wrong::new("with.atMost", "write a number above zero")),
        }
    }

    fn names(&self, node: &Node, _: Option<&str>) -> Vec<String> {
        names(node)
    }

    fn execute<'a>(&'a self, cx: &'a mut Cx<'_>) -> Doing<'a> {
        ready(begin(cx))
    }

    fn child_done<'a>(&'a self, cx: &'a mut Cx<'_>, _: &'a Child) -> Doing<'a> {
        ready(more(cx))
    }

    fn signal(&self, _: &mut Cx<'_>, signal: &Signal) -> Answer {
        ends(signal)
    }
}

fn begin(cx: &mut Cx<'_>) -> Result<Step, Failure> {
    let items = cx.list("items")?;
    let most = cx.value(MOST)?.and_then(|most| most.as_u64());
    let most = most
        .and_then(|most| most.try_into().ok())
        .unwrap_or(usize::MAX);
    let (now, later) = items.split_at(most.min(items.len()));
    for (index, item) in now.iter().enumerate() {
        let scope = scope(cx, index, item.clone())?;
        cx.schedule_with(0, json!(index), scope);
    }
    cx.remember(json!({ "later": later, "next": now.len() }));
    left(cx)
}

fn more(cx: &mut Cx<'_>) -> Result<Step, Failure> {
    if let Some((index, item)) = cx.data_mut().and_then(take) {
        let scope = scope(cx, index, item)?;
        cx.schedule_with(0, json!(index), scope);
    }
    left(cx)
}

/// The next item, which is taken out of what is remembered.
fn take(data: &mut Value) -> Option<(usize, Value)> {
    let next = data.get("next").and_then(Value::as_u64)?;
    let later = data.get_mut("later").and_then(Value::as_array_mut)?;
    let item = (!later.is_empty()).then(|| later.remove(0))?;
    *data.get_mut("next")? = json!(next + 1);
    Some((next.try_into().ok()?, item))
}

fn left(cx: &Cx<'_>) -> Result<Step, Failure> {
    Ok(match cx.active() {
        0 => Step::done(),
        _ => Step::Wait,
    })
}
