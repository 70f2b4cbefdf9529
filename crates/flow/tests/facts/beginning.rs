//! Where a burst begins.

use crate::support::{Instance, definition, event, log, remembering, say, sequence, values};
use lockwork_core::workflow::{
    Delivery, ErrorKind, ExecutionId, NodeId, Run, Stimulus, SubStatus, Target, Value,
};
use lockwork_flow::{Burst, Happened, Schedule};
use serde_json::json;
use std::sync::Arc;

fn starting(mut node: Value) -> Value {
    node["starts"] = json!(true);
    node
}

fn at(node: &str) -> Run {
    Run::at(Target::Trigger(NodeId::new(node).unwrap()))
}

#[test]
fn an_event_that_started_an_instance_is_not_waited_for() {
    let mut go = starting(event("go"));
    go["into"] = json!("got");
    let root = sequence(
        "main",
        [log("a"), go, say("b", json!({ "$expr": "got.n" }))],
    );
    let mut instance = Instance::new(remembering(json!({ "got": null }), root));
    let run = at("main/go").input(values(json!({ "n": 5 })));
    assert_eq!(instance.go(run), Delivery::Done);
    assert_eq!(instance.lines(), ["a", "5"]);
    instance.is_finished();
}

#[test]
fn what_started_an_instance_counts_once() {
    let again = json!({
        "type": "While", "id": "main", "with": { "condition": true },
        "do": { "body": starting(event("go")) },
    });
    let mut instance = Instance::new(definition(again));
    instance.go(at("main/go"));
    instance.is(SubStatus::Suspended);
    assert_eq!(instance.state.waiting().len(), 1);
    assert_eq!(instance.state.trigger, None);
}

#[test]
fn an_instance_is_started_once() {
    let mut instance = Instance::new(definition(starting(event("go"))));
    instance.go(Run::default());
    let before = instance.state.clone();
    assert_eq!(instance.go(at("go")), Delivery::Consumed);
    assert_eq!(instance.state, before);
}

#[test]
fn nothing_starts_with_an_activity_that_is_not_there() {
    let instance = Instance::new(definition(event("go")));
    let error = instance.burst().begin(at("stop")).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotFound);
    assert!(error.to_string().contains("node=stop"), "{error}");
}

#[test]
fn a_graph_says_what_starts_instances() {
    let timer =
        json!({ "type": "Timer", "id": "timer", "with": { "every": "5m" }, "starts": true });
    let cron = json!({ "type": "Cron", "id": "cron", "with": { "at": "@daily" }, "starts": true });
    let root = sequence("main", [starting(event("go")), timer, cron, event("later")]);
    let starts = Instance::new(definition(root)).graph.starts().unwrap();
    let nodes: Vec<_> = starts.iter().map(|one| one.node.as_str()).collect();
    assert_eq!(nodes, ["main/go", "main/timer", "main/cron"]);
    let event = Stimulus::new("Event", &json!({ "name": "go" })).unwrap();
    assert_eq!(starts[0].hash, event.hash);
    assert!(matches!(
        starts[1].trigger.schedule,
        Some(Schedule::Every(_))
    ));
    assert!(matches!(
        starts[2].trigger.schedule,
        Some(Schedule::Cron(_))
    ));
}

#[test]
fn there_is_nothing_to_retry_where_nothing_failed() {
    let instance = Instance::run(definition(event("go")));
    for execution in ["1", "99", "x"] {
        let execution = ExecutionId::new(execution).unwrap();
        let run = Run::at(Target::Retry(execution));
        let error = instance.burst().begin(run).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NotFound);
    }
}

#[test]
fn what_was_interrupted_goes_on_where_it_was() {
    let mut instance = Instance::new(definition(sequence("main", [log("a"), log("b")])));
    let mut burst = instance.burst();
    burst.begin(Run::default()).unwrap();
    for _ in 0..2 {
        crate::support::block_on(burst.step()).unwrap();
    }
    burst.interrupt();
    instance.keep(burst);
    instance.is(SubStatus::Interrupted);
    assert_eq!(instance.lines(), ["a"]);
    instance.go(Run::default());
    assert_eq!(instance.lines(), ["a", "b"]);
    assert_eq!(
        instance.happened("main"),
        [Happened::Started, Happened::Completed]
    );
    instance.is_finished();
}

#[test]
fn a_state_of_another_version_or_another_definition_is_refused() {
    let instance = Instance::run(definition(sequence("main", [event("go")])));
    let other = Instance::new(definition(sequence("main", [event("stop")])));
    let graph = || Arc::clone(&other.graph);
    let begin = |state| Burst::new(graph(), state, other.clock.clone()).unwrap_err();
    let error = begin(instance.state.clone());
    assert_eq!(error.kind(), ErrorKind::Invalid);
    assert!(error.to_string().contains("node=main/go"), "{error}");
    let mut state = instance.state.clone();
    state.version = lockwork_core::workflow::VersionId::new("facts-2").unwrap();
    let error = begin(state);
    assert_eq!(error.kind(), ErrorKind::Invalid);
    assert!(error.to_string().contains("version=facts-2"), "{error}");
}
