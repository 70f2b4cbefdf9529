//! Several at once.

use crate::{
    activity::{Activity, Child, Contains, Descriptor, Doing, Given, Step, Wrong, ready},
    burst::Cx,
    definition::{Input, Node},
};
use lockwork_core::workflow::{Failure, Value};

/// All of them.
#[derive(Debug)]
pub(super) struct Parallel;

impl Activity for Parallel {
    fn describe(&self) -> Descriptor {
        let about = "Runs activities side by side, and is done when all of them are.";
        Descriptor::new("Parallel", about).contains(Contains::List)
    }

    fn execute<'a>(&'a self, cx: &'a mut Cx<'_>) -> Doing<'a> {
        ready(all(cx))
    }

    fn child_done<'a>(&'a self, cx: &'a mut Cx<'_>, _: &'a Child) -> Doing<'a> {
        ready(left(cx))
    }
}

/// All of them, or the first.
#[derive(Debug)]
pub(super) struct Fork;

const JOIN: &str = "join";
const FORK: [Given; 1] = [Given::new(
    JOIN,
    "`all` (as usual) or `any`: the first that is done ends the others",
)
.fixed()];

impl Activity for Fork {
    fn describe(&self) -> Descriptor {
        let about =
            "Runs activities side by side, and is done when all of them are, or when the first is.";
        Descriptor::new("Fork", about)
            .given(&FORK)
            .contains(Contains::List)
    }

    fn check(&self, node: &Node) -> Result<(), Wrong> {
        match node.with.get(JOIN) {
            None => Ok(()),
            Some(Input::Value(Value::String(join))) if join == "all" || join == "any" => Ok(()),
            Some(_) => Err(Wrong::new("with.join", "write `all` or `any`")),
        }
    }

    fn execute<'a>(&'a self, cx: &'a mut Cx<'_>) -> Doing<'a> {
        ready(all(cx))
    }

    fn child_done<'a>(&'a self, cx: &'a mut Cx<'_>, _: &'a Child) -> Doing<'a> {
        ready(match cx.text(JOIN) {
            Ok(Some(join)) if join == "any" => Ok(Step::done()),
            Ok(_) => left(cx),
            Err(failure) => Err(failure),
        })
    }
}

fn all(cx: &mut Cx<'_>) -> Result<Step, Failure> {
    let count = cx.children().count();
    (0..count).for_each(|index| cx.schedule(index));
    left(cx)
}

fn left(cx: &Cx<'_>) -> Result<Step, Failure> {
    Ok(match cx.active() {
        0 => Step::done(),
        _ => Step::Wait,
    })
}
