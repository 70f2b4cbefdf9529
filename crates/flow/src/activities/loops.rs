//! Again and again.

use crate::{
    activity::{Activity, Child, Contains, Descriptor, Doing, Given, Step, Wrong, done, ready},
    burst::Cx,
    definition::{Input, Node},
    signal::{Answer, Signal},
};
use lockwork_core::workflow::{Failure, Value, Values};
use serde_json::json;

pub(super) const BODY: Contains = Contains::Ports {
    required: &["body"],
    optional: &[],
};

/// While something is true.
#[derive(Debug)]
pub(super) struct While;

const WHILE: [Given; 1] = [Given::new("condition", "true as long as it shall go on").required()];

impl Activity for While {
    fn describe(&self) -> Descriptor {
        Descriptor::new(
            "While",
            "Runs `body` again and again while a condition is true.",
        )
        .given(&WHILE)
        .contains(BODY)
    }

    fn execute<'a>(&'a self, cx: &'a mut Cx<'_>) -> Doing<'a> {
        ready(again(cx))
    }

    fn child_done<'a>(&'a self, cx: &'a mut Cx<'_>, _: &'a Child) -> Doing<'a> {
        ready(again(cx))
    }

    fn signal(&self, _: &mut Cx<'_>, signal: &Signal) -> Answer {
        ends(signal)
    }
}

fn again(cx: &mut Cx<'_>) -> Result<Step, Failure> {
    if cx.truth("condition")? != Some(true) {
        return Ok(Step::done());
    }
    cx.schedule(0);
    Ok(Step::Wait)
}

/// A loop ends when something in it says so.
pub(super) fn ends(signal: &Signal) -> Answer {
    match signal {
        Signal::Break => Answer::Done,
        Signal::Failed(_) => Answer::Pass,
    }
}

/// Once for each item.
#[derive(Debug)]
pub(super) struct ForEach;

pub(super) const AS: Given = Given::new(
    "as",
    "what the item is called inside of `body`; `item`, if nothing is said",
)
.fixed();
const FOR_EACH: [Given; 2] = [Given::new("items", "a list").required(), AS];

impl Activity for ForEach {
    fn describe(&self) -> Descriptor {
        let about = "Runs `body` once for each item of a list, one after another. Inside of it, `item` and \
                     `index` are known.";
        Descriptor::new("ForEach", about)
            .given(&FOR_EACH)
            .contains(BODY)
    }

    fn check(&self, node: &Node) -> Result<(), Wrong> {
        named(node).map(drop)
    }

    fn names(&self, node: &Node, _: Option<&str>) -> Vec<String> {
        names(node)
    }

    fn execute<'a>(&'a self, cx: &'a mut Cx<'_>) -> Doing<'a> {
        ready(begin(cx))
    }

    fn child_done<'a>(&'a self, cx: &'a mut Cx<'_>, child: &'a Child) -> Doing<'a> {
        let next = child.tag.as_u64().map_or(0, |index| index + 1);
        ready(item(cx, next.try_into().unwrap_or(usize::MAX)))
    }

    fn signal(&self, _: &mut Cx<'_>, signal: &Signal) -> Answer {
        ends(signal)
    }
}

fn begin(cx: &mut Cx<'_>) -> Result<Step, Failure> {
    let items = cx.list("items")?;
    cx.remember(Value::Array(items));
    item(cx, 0)
}

fn item(cx: &mut Cx<'_>, index: usize) -> Result<Step, Failure> {
    let Some(value) = cx.data().get(index).cloned() else {
        return Ok(Step::done());
    };
    let scope = scope(cx, index, value)?;
    cx.schedule_with(0, json!(index), scope);
    Ok(Step::Wait)
}

/// What those inside of a loop know besides.
pub(super) fn scope(cx: &Cx<'_>, index: usize, value: Value) -> Result<Values, Failure> {
    let name = cx.text("as")?.unwrap_or_else(|| ITEM.to_owned());
    Ok(Values::from_iter([
        (name, value),
        (INDEX.to_owned(), json!(index)),
    ]))
}

const ITEM: &str = "item";
const INDEX: &str = "index";

pub(super) fn named(node: &Node) -> Result<&str, Wrong> {
    match node.with.get("as") {
        None => Ok(ITEM),
        Some(Input::Value(Value::String(name))) if name == INDEX => {
            let message = "`index` says which item it is: choose another name";
            Err(Wrong::new("with.as", message))
        }
        Some(Input::Value(Value::String(name))) if !name.is_empty() => Ok(name),
        Some(_) => Err(Wrong::new("with.as", "a name is a text that is not empty")),
    }
}

/// The names that those inside of a loop know besides.
pub(super) fn names(node: &Node) -> Vec<String> {
    let item = named(node).unwrap_or(ITEM);
    vec![item.to_owned(), INDEX.to_owned()]
}

/// The end of the loop around it.
#[derive(Debug)]
pub(super) struct Break;

impl Activity for Break {
    fn describe(&self) -> Descriptor {
        Descriptor::new("Break", "Ends the innermost loop around it.")
    }

    fn execute<'a>(&'a self, cx: &'a mut Cx<'_>) -> Doing<'a> {
        cx.raise(Signal::Break);
        done()
    }
}
