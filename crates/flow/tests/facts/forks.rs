//! One after another, and side by side.

use crate::support::{Instance, definition, event, list, log, parallel, sequence};
use lockwork_core::workflow::SubStatus;
use lockwork_flow::Happened;
use serde_json::{Value, json};

fn fork(join: &str, inside: impl Into<Vec<Value>>) -> Value {
    let mut fork = list("Fork", "fork", inside);
    fork["with"] = json!({ "join": join });
    fork
}

/// Two branches, the first of which waits in its middle.
fn branches(join: &str) -> Value {
    let waits = sequence("one", [log("a1"), event("go"), log("a2")]);
    let other = sequence("two", [log("b1"), log("b2")]);
    let after = log("after");
    definition(sequence("main", [fork(join, [waits, other]), after]))
}

#[test]
fn a_sequence_runs_one_after_another() {
    let inner = sequence("inner", [log("b"), log("c")]);
    let instance = Instance::run(definition(sequence("main", [log("a"), inner, log("d")])));
    assert_eq!(instance.lines(), ["a", "b", "c", "d"]);
    instance.is_finished();
}

#[test]
fn what_contains_nothing_is_done_at_once() {
    for kind in ["Sequence", "Parallel", "Fork"] {
        let empty = list(kind, "empty", []);
        let instance = Instance::run(definition(sequence("main", [empty, log("after")])));
        assert_eq!(instance.lines(), ["after"], "{kind}");
        instance.is_finished();
    }
}

#[test]
fn branches_take_turns() {
    let one = sequence("one", [log("a1"), log("a2"), log("a3")]);
    let two = sequence("two", [log("b1"), log("b2")]);
    let all = parallel("all", [one, two, log("c1")]);
    let instance = Instance::run(definition(sequence("main", [all, log("after")])));
    assert_eq!(
        instance.lines(),
        ["c1", "a1", "b1", "a2", "b2", "a3", "after"],
        "what stands deeper begins one step later"
    );
    instance.is_finished();
}

#[test]
fn a_fork_that_joins_all_waits_for_each_branch() {
    let mut instance = Instance::run(branches("all"));
    instance.is(SubStatus::Suspended);
    assert_eq!(instance.lines(), ["a1", "b1", "b2"]);
    instance.event("go", json!({}));
    assert_eq!(instance.lines(), ["a1", "b1", "b2", "a2", "after"]);
    instance.is_finished();
}

#[test]
fn a_fork_that_joins_any_ends_with_the_first_branch() {
    let instance = Instance::run(branches("any"));
    assert_eq!(instance.lines(), ["a1", "b1", "b2", "after"]);
    assert_eq!(
        instance.happened("go"),
        [Happened::Started, Happened::Cancelled]
    );
    assert_eq!(
        instance.happened("one"),
        [Happened::Started, Happened::Cancelled]
    );
    instance.is_finished();
}

#[test]
fn what_was_scheduled_and_withdrawn_never_runs() {
    // When the first branch is done, the others are in the queue and have not begun.
    let instance = Instance::run(definition(fork("any", [log("a"), log("b"), log("c")])));
    assert_eq!(instance.lines(), ["a"]);
    assert_eq!(instance.happened("b"), [Happened::Cancelled]);
    assert_eq!(instance.happened("c"), [Happened::Cancelled]);
    instance.is_finished();
}

#[test]
fn an_end_clears_whatever_is_under_way() {
    let finish = json!({ "type": "Finish", "id": "finish" });
    let ends = sequence("ends", [log("a"), finish, log("never")]);
    let waits = sequence("waits", [event("go"), log("never too")]);
    let later = sequence("later", [log("b"), log("c"), log("d"), log("e")]);
    let all = parallel("all", [waits, ends, later]);
    let instance = Instance::run(definition(sequence("main", [all, log("after")])));
    assert_eq!(instance.lines(), ["a", "b"], "nothing after the end");
    assert_eq!(
        instance.happened("go"),
        [Happened::Started, Happened::Cancelled]
    );
    instance.is_finished();
}
