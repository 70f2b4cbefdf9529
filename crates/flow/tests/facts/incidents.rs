//! What becomes of an instance in which something failed.

use crate::support::{Instance, definition, event, fault, going_on, log, parallel, sequence};
use lockwork_core::workflow::{Delivery, Failure, Run, SubStatus, Value};
use lockwork_flow::{
    Activity, Answer, Contains, Cx, Descriptor, Doing, Happened, MAX_STEPS, Registry, Signal, Step,
    ready,
};
use serde_json::json;

/// A branch that fails, one that goes on for longer, and one that waits.
fn branches() -> Value {
    let fails = sequence("fails", [fault("bad", "x"), log("never")]);
    let other = sequence("other", [log("b1"), log("b2"), log("b3")]);
    let all = parallel("all", [other, fails, event("go")]);
    definition(sequence("main", [all, log("after")]))
}

#[test]
fn a_failure_ends_the_instance_and_other_branches_do_not_go_on() {
    let instance = Instance::run(branches());
    instance.is(SubStatus::Faulted);
    assert_eq!(instance.lines(), ["b1"]);
    let [incident] = instance.state.incidents.as_slice() else {
        panic!("{:?}", instance.state.incidents);
    };
    assert_eq!(incident.node.as_str(), "main/all/fails/bad");
    assert_eq!(incident.activity, "Fault");
    assert_eq!(incident.failure, Failure::new("x", "on purpose"));
    assert!(instance.state.waiting().is_empty(), "nobody can resume it");
    assert!(instance.state.finished.is_some());
}

#[test]
fn other_branches_go_on_where_the_definition_says_so() {
    let mut instance = Instance::run(going_on(branches()));
    instance.is(SubStatus::Suspended);
    assert_eq!(instance.lines(), ["b1", "b2", "b3"]);
    assert_eq!(instance.codes(), ["x"]);
    assert_eq!(instance.state.waiting().len(), 1);
    instance.event("go", json!({}));
    instance.is(SubStatus::Suspended);
    assert_eq!(instance.codes(), ["x"]);
}

#[test]
fn several_branches_may_fail() {
    let all = parallel("all", [fault("a", "x"), fault("b", "y")]);
    let instance = Instance::run(going_on(definition(all)));
    instance.is(SubStatus::Suspended);
    assert_eq!(instance.codes(), ["x", "y"]);
}

#[test]
fn a_failure_that_is_not_needed_any_more_is_no_incident() {
    let waits = sequence("waits", [event("go")]);
    let fork = json!({
        "type": "Fork", "id": "fork", "with": { "join": "any" },
        "do": [fault("bad", "x"), waits],
    });
    let mut instance = Instance::run(going_on(definition(fork)));
    assert_eq!(instance.codes(), ["x"]);
    instance.event("go", json!({}));
    instance.is_finished();
}

/// Fails as often as its data says, by a function of the program that counts.
fn failing(times: usize) -> Registry {
    let called = std::sync::atomic::AtomicUsize::new(0);
    Registry::standard().code("call", move |call| {
        let before = called.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        async move {
            match before < times {
                true => Err(Failure::new("called", call.key)),
                false => Ok(json!(call.key)),
            }
        }
    })
}

fn call() -> Value {
    json!({ "type": "Call", "id": "call", "with": { "name": "call" } })
}

#[test]
fn what_failed_is_retried_and_the_instance_goes_on_from_there() {
    for wrap in [|definition| definition, going_on] {
        let root = sequence("main", [log("a"), call(), log("b")]);
        let mut instance = Instance::with(wrap(definition(root)), &failing(1));
        instance.go(Run::default());
        assert_eq!(instance.codes(), ["called"]);
        let failed = instance.state.incidents[0].execution.clone();
        assert_eq!(instance.retry(failed.clone()), Delivery::Done);
        assert_eq!(instance.lines(), ["a", "b"]);
        assert_eq!(
            instance.happened("call"),
            [
                Happened::Started,
                Happened::Faulted,
                Happened::Started,
                Happened::Completed
            ]
        );
        instance.is_finished();
        assert_eq!(instance.retry(failed), Delivery::Over);
    }
}

#[test]
fn what_is_retried_and_fails_again_is_an_incident_again() {
    let mut instance = Instance::with(definition(sequence("main", [call()])), &failing(2));
    instance.go(Run::default());
    let first = instance.state.incidents[0].clone();
    instance.retry(first.execution.clone());
    instance.is(SubStatus::Faulted);
    let [second] = instance.state.incidents.as_slice() else {
        panic!("{:?}", instance.state.incidents);
    };
    assert_eq!(second.execution, first.execution);
    assert_ne!(second.failure.message, first.failure.message, "another key");
    instance.retry(second.execution.clone());
    instance.is_finished();
}

#[test]
fn other_branches_of_an_instance_that_failed_go_on_when_it_is_retried() {
    let other = sequence("other", [log("b1"), log("b2")]);
    let all = parallel("all", [call(), other, event("go")]);
    let mut instance = Instance::with(definition(all), &failing(1));
    instance.go(Run::default());
    assert!(instance.lines().is_empty());
    let failed = instance.state.incidents[0].execution.clone();
    instance.retry(failed);
    assert_eq!(instance.lines(), ["b1", "b2"]);
    instance.is(SubStatus::Suspended);
    instance.event("go", json!({}));
    instance.is_finished();
}

/// Waits for nothing: when it is executed, or when it should have helped.
#[derive(Debug)]
struct Idle;

impl Activity for Idle {
    fn describe(&self) -> Descriptor {
        Descriptor::new("Idle", "Waits for nothing.").contains(Contains::List)
    }

    fn execute<'a>(&'a self, cx: &'a mut Cx<'_>) -> Doing<'a> {
        if cx.children().next().is_some() {
            cx.schedule(0);
        }
        ready(Ok(Step::Wait))
    }

    fn signal(&self, _: &mut Cx<'_>, _: &Signal) -> Answer {
        Answer::Handled
    }
}

#[test]
fn an_activity_that_waits_for_nothing_has_failed() {
    let registry = Registry::standard().with(Idle);
    for inside in [
        json!([]),
        json!([fault("bad", "x")]),
        json!([{ "type": "Break", "id": "b" }]),
    ] {
        let idle = json!({ "type": "Idle", "id": "idle", "do": inside });
        let mut instance = Instance::with(definition(sequence("main", [idle])), &registry);
        instance.go(Run::default());
        instance.is(SubStatus::Faulted);
        assert_eq!(instance.codes(), ["stalled"]);
        assert_eq!(instance.state.incidents[0].node.as_str(), "main/idle");
    }
}

#[test]
fn a_loop_without_an_end_fails() {
    let mut body = log("again");
    // Whoever would try again would try for ever.
    body["retry"] = json!({ "times": 4_000_000_000_u32, "after": "0s" });
    let endless = json!({
        "type": "While", "id": "while", "with": { "condition": true }, "do": { "body": body },
    });
    let attempt = json!({
        "type": "Try", "id": "try", "do": { "body": endless, "catch": log("never") },
    });
    let instance = Instance::run(definition(attempt));
    instance.is(SubStatus::Faulted);
    assert_eq!(instance.codes(), ["burst.endless"]);
    assert!(
        instance.state.incidents[0]
            .failure
            .message
            .contains(&MAX_STEPS.to_string())
    );
    let lines = u64::try_from(instance.lines().len()).unwrap();
    assert_eq!(lines, MAX_STEPS - 2, "but for the two around");
}
