//! Ending an instance from the outside.

use crate::support::{Instance, definition, event, log, parallel, sequence};
use lockwork_core::workflow::{Delivery, Run, SubStatus};
use lockwork_flow::{Effect, Happened};
use serde_json::{Value, json};

fn cancel(instance: &mut Instance) {
    let mut burst = instance.burst();
    burst.cancel_all();
    instance.keep(burst);
}

fn child(kind: &str, id: &str) -> Value {
    json!({ "type": kind, "id": id, "with": { "definition": "child" } })
}

#[test]
fn an_instance_that_is_cancelled_has_nothing_left_to_do() {
    let root = parallel(
        "all",
        [event("go"), sequence("two", [event("stop"), log("never")])],
    );
    let mut instance = Instance::run(definition(root));
    let bookmark = instance.state.waiting()[0].clone();
    cancel(&mut instance);
    instance.is(SubStatus::Cancelled);
    assert!(instance.state.contexts.is_empty());
    assert!(instance.state.bookmarks.is_empty());
    assert!(instance.state.finished.is_some());
    assert_eq!(instance.happened("stop").last(), Some(&Happened::Cancelled));
    assert_eq!(instance.resume(&bookmark, json!({})), Delivery::Over);
    let before = instance.state.clone();
    cancel(&mut instance);
    assert_eq!(instance.state, before);
}

#[test]
fn what_was_scheduled_is_withdrawn() {
    let mut instance = Instance::new(definition(sequence("main", [log("never")])));
    let mut burst = instance.burst();
    burst.begin(Run::default()).unwrap();
    crate::support::block_on(burst.step()).unwrap();
    burst.cancel_all();
    instance.keep(burst);
    assert!(instance.state.queue.is_empty());
    instance.go(Run::default());
    assert!(instance.lines().is_empty());
    instance.is(SubStatus::Cancelled);
}

#[test]
fn an_instance_that_never_ran_can_be_cancelled() {
    let mut instance = Instance::new(definition(log("never")));
    cancel(&mut instance);
    instance.is(SubStatus::Cancelled);
    assert_eq!(instance.go(Run::default()), Delivery::Over);
}

#[test]
fn the_children_an_instance_waits_for_are_ended_with_it() {
    let bulk = json!({
        "type": "BulkDispatch", "id": "bulk",
        "with": { "definition": "child", "items": [1, 2], "wait": true },
    });
    let all = parallel(
        "all",
        [
            child("ExecuteWorkflow", "a"),
            child("DispatchWorkflow", "b"),
            bulk,
        ],
    );
    let mut instance = Instance::run(definition(all));
    let started: Vec<_> = instance.effects.drain(..).collect();
    assert_eq!(started.len(), 4);
    cancel(&mut instance);
    let mut ended = instance.effects.iter().map(|effect| match effect {
        Effect::Cancel(instance) => instance.to_string(),
        other => panic!("{other:?}"),
    });
    let waited = |effect: &Effect| match effect {
        Effect::Dispatch { instance, create } => {
            let parent = create.parent.as_ref().unwrap();
            parent.waiting.as_ref().map(|_| instance.to_string())
        }
        other => panic!("{other:?}"),
    };
    let mut expected: Vec<_> = started.iter().filter_map(waited).collect();
    expected.sort();
    let mut ended: Vec<_> = ended.by_ref().collect();
    ended.sort();
    assert_eq!(ended, expected, "and not the one that nobody waits for");
    assert_eq!(ended.len(), 3);
}
