//! Again and again, and the way out.

use crate::support::{
    Instance, count, definition, event, expr, log, parallel, remembering, say, sequence, stop,
};
use lockwork_core::workflow::SubStatus;
use serde_json::{Value, json};

fn repeat(condition: &str, body: Value) -> Value {
    json!({
        "type": "While", "id": "while", "with": { "condition": expr(condition) }, "do": { "body": body },
    })
}

fn each(kind: &str, items: Value, body: Value) -> Value {
    json!({ "type": kind, "id": "each", "with": { "items": items }, "do": { "body": body } })
}

fn item() -> Value {
    say("item", json!({ "$text": "{{ index }} {{ item }}" }))
}

#[test]
fn a_while_goes_on_as_long_as_its_condition_is_true() {
    let body = sequence("body", [say("n", expr("n")), count("more", "n")]);
    let root = sequence("main", [repeat("n < 3", body), log("after")]);
    let instance = Instance::run(remembering(json!({ "n": 0 }), root));
    assert_eq!(instance.lines(), ["0", "1", "2", "after"]);
    instance.is_finished();
}

#[test]
fn a_for_each_runs_once_for_each_item_one_after_another() {
    let body = sequence("body", [item(), log("then")]);
    let root = sequence(
        "main",
        [each("ForEach", json!(["x", "y"]), body), log("after")],
    );
    let instance = Instance::run(definition(root));
    assert_eq!(instance.lines(), ["0 x", "then", "1 y", "then", "after"]);
    instance.is_finished();
}

#[test]
fn an_item_is_called_as_its_loop_says_and_inner_loops_hide_outer_ones() {
    let mut inner = each(
        "ForEach",
        expr("order.lines"),
        say(
            "line",
            json!({ "$text": "{{ order.id }}.{{ index }}: {{ line }}" }),
        ),
    );
    inner["with"]["as"] = json!("line");
    inner["id"] = json!("inner");
    let orders = json!([{ "id": 7, "lines": ["a", "b"] }, { "id": 8, "lines": ["c"] }]);
    let mut outer = each("ForEach", orders, inner);
    outer["with"]["as"] = json!("order");
    let instance = Instance::run(definition(outer));
    assert_eq!(instance.lines(), ["7.0: a", "7.1: b", "8.0: c"]);
}

#[test]
fn a_loop_keeps_the_items_it_began_with() {
    let body = sequence(
        "body",
        [item(), crate::support::set("set", "list", json!([]))],
    );
    let root = each("ForEach", expr("list"), body);
    let instance = Instance::run(remembering(json!({ "list": [1, 2] }), root));
    assert_eq!(instance.lines(), ["0 1", "1 2"]);
}

#[test]
fn all_items_of_a_parallel_loop_are_under_way_at_once() {
    let body = sequence("body", [item(), log("then")]);
    let root = each("ParallelForEach", json!(["x", "y"]), body);
    let instance = Instance::run(definition(root));
    assert_eq!(instance.lines(), ["0 x", "1 y", "then", "then"]);
    instance.is_finished();
}

#[test]
fn a_parallel_loop_has_at_most_so_many_under_way() {
    let body = sequence("body", [item(), event("go")]);
    let mut root = each("ParallelForEach", json!([1, 2, 3, 4, 5]), body);
    root["with"]["atMost"] = json!(2);
    let mut instance = Instance::run(definition(sequence("main", [root, log("after")])));
    assert_eq!(instance.lines(), ["0 1", "1 2"]);
    assert_eq!(instance.state.waiting().len(), 2);
    let first = instance.state.waiting()[0].clone();
    instance.resume(&first, json!({}));
    assert_eq!(instance.lines(), ["0 1", "1 2", "2 3"]);
    assert_eq!(instance.state.waiting().len(), 2);
    instance.event("go", json!({}));
    assert_eq!(instance.lines(), ["0 1", "1 2", "2 3", "3 4", "4 5"]);
    instance.event("go", json!({}));
    assert_eq!(instance.lines().last(), Some(&"after"));
    instance.is_finished();
}

#[test]
fn a_loop_without_items_is_done_at_once() {
    for kind in ["ForEach", "ParallelForEach"] {
        for items in [json!([]), Value::Null] {
            let root = sequence("main", [each(kind, items, log("never")), log("after")]);
            let instance = Instance::run(definition(root));
            assert_eq!(instance.lines(), ["after"], "{kind}");
            instance.is_finished();
        }
    }
}

#[test]
fn what_is_no_list_has_no_items() {
    for kind in ["ForEach", "ParallelForEach"] {
        let instance = Instance::run(definition(each(kind, json!("abc"), log("never"))));
        assert_eq!(instance.codes(), ["input.type"], "{kind}");
    }
}

/// Each loop around a body that waits on one side and ends the loop on the other.
fn broken() -> [(&'static str, Value); 3] {
    let body = || {
        let waits = sequence("waits", [event("go"), log("never")]);
        let ends = sequence("ends", [log("in"), stop("break"), log("never too")]);
        parallel("body", [waits, ends])
    };
    [
        ("While", repeat("true", body())),
        ("ForEach", each("ForEach", json!([1, 2]), body())),
        (
            "ParallelForEach",
            each("ParallelForEach", json!([1]), body()),
        ),
    ]
}

#[test]
fn a_break_ends_the_loop_around_it_and_leaves_no_bookmarks() {
    for (kind, around) in broken() {
        let instance = Instance::run(definition(sequence("main", [around, log("after")])));
        assert_eq!(instance.lines(), ["in", "after"], "{kind}");
        instance.is_finished();
    }
}

#[test]
fn a_break_in_a_parallel_loop_ends_all_of_its_items() {
    let body = sequence("body", [item(), event("go"), stop("break")]);
    let root = each("ParallelForEach", json!([1, 2, 3]), body);
    let mut instance = Instance::run(definition(sequence("main", [root, log("after")])));
    let second = instance.state.waiting()[1].clone();
    instance.resume(&second, json!({}));
    assert_eq!(instance.lines(), ["0 1", "1 2", "2 3", "after"]);
    instance.is_finished();
}

#[test]
fn a_break_ends_the_innermost_loop_alone() {
    let mut inner = each(
        "ForEach",
        json!(["a", "b"]),
        sequence("body", [item(), stop("break")]),
    );
    inner["id"] = json!("inner");
    let outer = each("ForEach", json!([1, 2]), inner);
    let instance = Instance::run(definition(outer));
    assert_eq!(instance.lines(), ["0 a", "0 a"]);
    instance.is_finished();
}

#[test]
fn a_break_passes_whatever_is_no_loop() {
    let attempt = json!({
        "type": "Try", "id": "try", "do": { "body": stop("break"), "catch": log("never") },
    });
    let root = sequence("main", [repeat("true", attempt), log("after")]);
    let instance = Instance::run(definition(root));
    assert_eq!(instance.lines(), ["after"]);
    instance.is_finished();
}

#[test]
fn a_break_without_a_loop_is_a_failure() {
    let instance = Instance::run(definition(sequence("main", [stop("break"), log("never")])));
    instance.is(SubStatus::Faulted);
    assert_eq!(instance.codes(), ["break.outside"]);
    assert!(instance.lines().is_empty());
}
