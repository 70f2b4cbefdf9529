//! Helping those who failed.

use crate::support::{Instance, definition, event, expr, fault, log, parallel, say, sequence};
use lockwork_core::workflow::{SubStatus, Value};
use lockwork_flow::Happened;
use serde_json::json;

fn attempt(id: &str, codes: &[&str], body: Value, catch: Value) -> Value {
    json!({
        "type": "Try", "id": id, "with": { "codes": codes }, "do": { "body": body, "catch": catch },
    })
}

fn told() -> Value {
    say(
        "told",
        json!({ "$text": "{{ error.code }}: {{ error.message }}" }),
    )
}

#[test]
fn what_fails_is_ended_and_somebody_helps() {
    let waits = event("go");
    let body = parallel(
        "body",
        [
            waits,
            sequence("bad", [log("a"), fault("f", "x"), log("never")]),
        ],
    );
    let root = sequence("main", [attempt("try", &[], body, told()), log("after")]);
    let instance = Instance::run(definition(root));
    assert_eq!(instance.lines(), ["a", "x: on purpose", "after"]);
    assert_eq!(
        instance.happened("f"),
        [Happened::Started, Happened::Faulted, Happened::Cancelled]
    );
    assert_eq!(
        instance.happened("go"),
        [Happened::Started, Happened::Cancelled]
    );
    instance.is_finished();
}

#[test]
fn a_try_whose_body_does_not_fail_helps_nobody() {
    let root = attempt("try", &[], log("body"), log("never"));
    let instance = Instance::run(definition(sequence("main", [root, log("after")])));
    assert_eq!(instance.lines(), ["body", "after"]);
    instance.is_finished();
}

#[test]
fn a_try_helps_with_the_codes_it_names() {
    for (code, lines) in [("x", ["inner"]), ("y", ["outer"])] {
        let inner = attempt("inner", &["x", "z"], fault("f", code), log("inner"));
        let outer = attempt("outer", &["y"], inner, log("outer"));
        let inner_log = Instance::run(definition(outer));
        assert_eq!(inner_log.lines(), lines);
        inner_log.is_finished();
    }
    let root = attempt("try", &["x"], fault("f", "y"), log("never"));
    let instance = Instance::run(definition(root));
    instance.is(SubStatus::Faulted);
    assert_eq!(instance.codes(), ["y"]);
}

#[test]
fn a_failure_of_the_helper_passes_outwards() {
    let helper = sequence("helper", [log("helper"), fault("f2", "y")]);
    let inner = attempt("inner", &[], fault("f1", "x"), helper);
    let outer = attempt("outer", &[], inner.clone(), told());
    let instance = Instance::run(definition(outer));
    assert_eq!(instance.lines(), ["helper", "y: on purpose"]);
    instance.is_finished();

    let instance = Instance::run(definition(inner));
    instance.is(SubStatus::Faulted);
    assert_eq!(instance.codes(), ["y"]);
}

#[test]
fn a_helper_may_wait() {
    let helper = sequence("helper", [event("go"), told()]);
    let mut instance = Instance::run(definition(attempt("try", &[], fault("f", "x"), helper)));
    instance.is(SubStatus::Suspended);
    assert!(instance.state.incidents.is_empty());
    instance.event("go", json!({}));
    assert_eq!(instance.lines(), ["x: on purpose"]);
    instance.is_finished();
}

#[test]
fn a_try_in_a_loop_helps_each_time() {
    let body = attempt("try", &[], fault("f", "x"), say("item", expr("item")));
    let each = json!({
        "type": "ForEach", "id": "each", "with": { "items": [1, 2, 3] }, "do": { "body": body },
    });
    let instance = Instance::run(definition(each));
    assert_eq!(instance.lines(), ["1", "2", "3"]);
    instance.is_finished();
}

#[test]
fn codes_that_cannot_be_evaluated_help_nobody() {
    let mut root = attempt("try", &[], fault("f", "x"), log("never"));
    root["with"]["codes"] = expr("input.missing");
    let instance = Instance::run(definition(root));
    assert_eq!(instance.codes(), ["x"]);
}
