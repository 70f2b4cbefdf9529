//! Trying again what failed.

use crate::support::{Instance, NOON, definition, event, fault, log, sequence};
use lockwork_core::workflow::{Failure, InstanceId, Run, SubStatus, Target, Value};
use lockwork_flow::{Happened, Registry};
use serde_json::json;
use std::sync::{Arc, Mutex};

fn retried(retry: Value) -> Value {
    let mut bad = fault("bad", "x");
    bad["retry"] = retry;
    definition(sequence("main", [bad, log("never")]))
}

/// How long it waits each time, until it gives up.
fn waits(retry: Value) -> Vec<i64> {
    let mut instance = Instance::run(retried(retry));
    let (mut waits, mut now) = (Vec::new(), NOON);
    while let [bookmark] = instance.state.waiting() {
        let due = bookmark.due.unwrap().as_millis();
        waits.push(due - now);
        now = due;
        instance.wake(now);
    }
    instance.is(SubStatus::Faulted);
    assert_eq!(instance.codes(), ["x"]);
    waits
}

#[test]
fn a_policy_tries_so_often_and_waits_longer_each_time() {
    for (retry, expected) in [
        (
            json!({ "times": 3, "after": "2s" }),
            vec![2_000, 2_000, 2_000],
        ),
        (
            json!({ "times": 3, "after": "2s", "factor": 3 }),
            vec![2_000, 6_000, 18_000],
        ),
        (
            json!({ "times": 4, "after": "2s", "factor": 3.0, "atMost": "7s" }),
            vec![2_000, 6_000, 7_000, 7_000],
        ),
        (
            json!({ "times": 2, "after": "1s", "factor": 0.5 }),
            vec![1_000, 500],
        ),
        (json!({ "times": 0, "after": "2s" }), vec![]),
        (
            json!({ "times": 1, "after": "2s", "on": ["y", "x"] }),
            vec![2_000],
        ),
        (json!({ "times": 1, "after": "2s", "on": ["y"] }), vec![]),
    ] {
        assert_eq!(waits(retry.clone()), expected, "{retry}");
    }
}

#[test]
fn no_time_at_all_is_not_waited_for() {
    let instance = Instance::run(retried(json!({ "times": 2, "after": "0s", "factor": 2 })));
    instance.is(SubStatus::Faulted);
    let once = [Happened::Started, Happened::Faulted];
    let again = [Happened::Retrying, Happened::Started, Happened::Faulted];
    let expected = [once.as_slice(), again.as_slice(), again.as_slice()].concat();
    assert_eq!(instance.happened("bad"), expected);
}

#[test]
fn no_time_at_all_stays_so_however_often_it_grows() {
    let instance = Instance::run(retried(
        json!({ "times": 1_100, "after": "0s", "factor": 2 }),
    ));
    instance.is(SubStatus::Faulted);
}

#[test]
fn an_instance_with_the_longest_id_can_wait_and_be_tried_again() {
    for root in [
        retried(json!({ "times": 1, "after": "1s" })),
        definition(event("go")),
    ] {
        let mut instance = Instance::new(root);
        instance.state.instance = InstanceId::new(&"i".repeat(256)).unwrap();
        instance.go(Run::default());
        instance.is(SubStatus::Suspended);
    }
}

#[test]
fn a_whole_branch_is_tried_again_when_something_in_it_fails() {
    let branch = |retry: Value| {
        let mut branch = sequence("branch", [log("first"), fault("bad", "x"), log("never")]);
        branch["retry"] = retry;
        definition(sequence("main", [branch, log("after")]))
    };
    let mut instance = Instance::run(branch(json!({ "times": 1, "after": "1s" })));
    instance.is(SubStatus::Suspended);
    assert_eq!(
        instance.state.contexts.len(),
        2,
        "nothing is left inside of it"
    );
    instance.wake(NOON + 1_000);
    instance.is(SubStatus::Faulted);
    assert_eq!(instance.lines(), ["first", "first"]);
    let at_once = Instance::run(branch(json!({ "times": 2, "after": "0s" })));
    at_once.is(SubStatus::Faulted);
    assert_eq!(at_once.lines(), ["first", "first", "first"]);
    let other = Instance::run(branch(json!({ "times": 2, "after": "0s", "on": ["y"] })));
    assert_eq!(other.lines(), ["first"]);
}

#[test]
fn a_failure_that_is_tried_again_is_no_incident() {
    let instance = Instance::run(retried(json!({ "times": 1, "after": "1s" })));
    instance.is(SubStatus::Suspended);
    assert!(instance.state.incidents.is_empty());
    let [bookmark] = instance.state.waiting() else {
        panic!("{:?}", instance.state.bookmarks);
    };
    assert_eq!(bookmark.name, "Retry");
}

#[test]
fn somebody_may_help_once_trying_again_is_over() {
    let mut bad = fault("bad", "x");
    bad["retry"] = json!({ "times": 1, "after": "1s" });
    let root = json!({ "type": "Try", "id": "try", "do": { "body": bad, "catch": log("helped") } });
    let mut instance = Instance::run(definition(root));
    assert!(instance.lines().is_empty());
    instance.wake(NOON + 1_000);
    assert_eq!(instance.lines(), ["helped"]);
    instance.is_finished();
}

#[test]
fn whoever_retries_by_hand_begins_the_policy_anew() {
    let mut instance = Instance::run(retried(json!({ "times": 1, "after": "1s" })));
    instance.wake(NOON + 1_000);
    instance.is(SubStatus::Faulted);
    let failed = instance.state.incidents[0].execution.clone();
    instance.retry(failed);
    instance.is(SubStatus::Suspended);
    instance.wake(NOON + 2_000);
    instance.is(SubStatus::Faulted);
}

/// A program whose function always fails, and the keys it was called with.
fn keys() -> (Registry, Arc<Mutex<Vec<String>>>) {
    let keys = Arc::<Mutex<Vec<String>>>::default();
    let seen = Arc::clone(&keys);
    let registry = Registry::standard().code("call", move |call| {
        seen.lock().unwrap().push(call.key);
        async { Err(Failure::new("x", "always")) }
    });
    (registry, keys)
}

#[test]
fn a_key_is_the_same_when_a_step_is_run_again_and_another_when_it_is_retried() {
    let (registry, keys) = keys();
    let call = json!({
        "type": "Call", "id": "call", "with": { "name": "call" },
        "retry": { "times": 1, "after": "1s" },
    });
    let root = sequence("main", [event("go"), call]);
    let mut instance = Instance::with(definition(root), &registry);
    instance.go(Run::default());
    // A node dies after the burst and before its commit: another one runs it again.
    let run = || Run::at(Target::Bookmark(instance.state.waiting()[0].id.clone()));
    for _ in 0..2 {
        let mut burst = instance.burst();
        burst.begin(run()).unwrap();
        while crate::support::block_on(burst.step()).unwrap() == lockwork_flow::Progress::More {}
    }
    instance.go(run());
    instance.wake(NOON + 1_000);
    let failed = instance.state.incidents[0].execution.clone();
    instance.retry(failed);
    let keys = keys.lock().unwrap();
    let [a, b, c, policy, hand] = keys.as_slice() else {
        panic!("{keys:?}");
    };
    assert!(a == b && b == c, "{keys:?}");
    assert!(c != policy && policy != hand && c != hand, "{keys:?}");
}

#[test]
fn a_task_that_is_asked_for_again_is_another_one() {
    let task = json!({
        "type": "Job", "id": "job", "with": { "name": "print" },
        "retry": { "times": 1, "after": "0s" },
    });
    let mut instance = Instance::run(definition(task));
    let first = instance.state.waiting()[0].clone();
    let failure = json!({ "failure": { "code": "x", "message": "" } });
    instance.resume(&first, failure.clone());
    instance.is(SubStatus::Suspended);
    let [
        lockwork_flow::Effect::Job { job: a, .. },
        lockwork_flow::Effect::Job { job: b, .. },
    ] = instance.effects.as_slice()
    else {
        panic!("{:?}", instance.effects);
    };
    assert_ne!(a.key, b.key);
    let late = instance.resume(&first, failure);
    assert_eq!(late, lockwork_core::workflow::Delivery::Consumed);
}
