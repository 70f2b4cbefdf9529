//! Where instances stop, and how they go on.

use crate::support::{
    Instance, NOON, definition, event, expr, log, parallel, remembering, say, sequence,
};
use lockwork_core::workflow::{Delivery, Run, Stimulus, StimulusHash, SubStatus, Time};
use lockwork_flow::{Effect, Happened, TASK};
use serde_json::json;

#[test]
fn an_event_stops_a_sequence_until_it_happens() {
    let root = sequence("main", [log("before"), event("go"), log("after")]);
    let mut instance = Instance::run(definition(root));
    instance.is(SubStatus::Suspended);
    assert_eq!(instance.lines(), ["before"]);
    let [bookmark] = instance.state.waiting() else {
        panic!("{:?}", instance.state.bookmarks);
    };
    let hash = StimulusHash::of("Event", &json!({ "name": "go" }), None).unwrap();
    assert_eq!(bookmark.hash, hash);
    assert_eq!(bookmark.node.as_str(), "main/go");
    assert_eq!(bookmark.due, None);
    instance.event("go", json!({}));
    assert_eq!(instance.lines(), ["before", "after"]);
    assert_eq!(
        instance.happened("go"),
        [Happened::Started, Happened::Resumed, Happened::Completed]
    );
    instance.is_finished();
}

#[test]
fn what_an_event_brings_goes_into_a_variable() {
    let mut go = event("go");
    go["into"] = json!("got");
    let root = sequence("main", [go, say("said", expr("got.who"))]);
    let mut instance = Instance::run(remembering(json!({ "got": null }), root));
    instance.event("go", json!({ "who": "Ada" }));
    assert_eq!(instance.lines(), ["Ada"]);
    assert_eq!(instance.state.variables["got"], json!({ "who": "Ada" }));
}

#[test]
fn an_event_may_be_called_as_an_expression_says() {
    let mut go = event("go");
    go["with"]["name"] = json!({ "$text": "go-{{ n }}" });
    let mut instance = Instance::run(remembering(json!({ "n": 7 }), go));
    instance.event("go-8", json!({}));
    instance.is(SubStatus::Suspended);
    instance.event("go-7", json!({}));
    instance.is_finished();
}

#[test]
fn a_bookmark_is_resumed_once() {
    let root = sequence("main", [event("go"), event("again")]);
    let mut instance = Instance::run(definition(root));
    let bookmark = instance.state.waiting()[0].clone();
    assert_eq!(instance.resume(&bookmark, json!({})), Delivery::Done);
    let before = instance.state.clone();
    assert_eq!(instance.resume(&bookmark, json!({})), Delivery::Consumed);
    assert_eq!(instance.state, before);
}

#[test]
fn an_instance_that_is_over_takes_nothing() {
    let mut instance = Instance::run(definition(event("go")));
    let bookmark = instance.state.waiting()[0].clone();
    instance.event("go", json!({}));
    let before = instance.state.clone();
    assert_eq!(instance.resume(&bookmark, json!({})), Delivery::Over);
    assert_eq!(instance.go(Run::default()), Delivery::Over);
    assert_eq!(instance.state, before);
}

#[test]
fn to_continue_an_instance_that_waits_changes_nothing() {
    let mut instance = Instance::run(definition(sequence("main", [log("a"), event("go")])));
    let (before, entries) = (instance.state.clone(), instance.journal.len());
    assert_eq!(instance.go(Run::default()), Delivery::Done);
    assert_eq!(instance.state, before);
    assert_eq!(instance.journal.len(), entries);
}

#[test]
fn two_who_wait_for_the_same_are_resumed_each_by_its_own_bookmark() {
    let both = parallel(
        "both",
        [event("go"), sequence("two", [event("go"), log("x")])],
    );
    let mut instance = Instance::run(definition(both));
    let [one, two] = instance.state.waiting() else {
        panic!("{:?}", instance.state.bookmarks);
    };
    assert_eq!(one.hash, two.hash);
    assert_ne!(one.id, two.id);
    let one = one.clone();
    instance.resume(&one, json!({}));
    assert_eq!(instance.state.waiting().len(), 1);
    instance.event("go", json!({}));
    assert_eq!(instance.lines(), ["x"]);
    instance.is_finished();
}

#[test]
fn an_event_is_published_for_others_with_a_key_of_its_own() {
    let publish = |id: &str| {
        json!({
            "type": "PublishEvent", "id": id,
            "with": { "name": "go", "payload": { "n": 1 }, "correlation": "c", "local": true },
        })
    };
    let instance = Instance::run(definition(sequence("main", [publish("a"), publish("b")])));
    instance.is_finished();
    let sent = instance.effects.iter().map(|effect| match effect {
        Effect::Send(stimulus) => stimulus,
        other => panic!("{other:?}"),
    });
    let sent: Vec<_> = sent.collect();
    let expected = Stimulus::new("Event", &json!({ "name": "go" })).unwrap();
    assert_eq!(sent[0].hash, expected.hash);
    assert_eq!(sent[0].input["n"], json!(1));
    assert_eq!(sent[0].to.correlation.as_deref(), Some("c"));
    assert_eq!(sent[0].to.instance.as_ref(), Some(&instance.state.instance));
    assert_ne!(sent[0].key, sent[1].key);
}

#[test]
fn a_task_is_done_when_somebody_says_so() {
    let task = json!({
        "type": "RunTask", "id": "task", "with": { "name": "sign", "payload": { "page": 3 } },
        "into": "answer",
    });
    let root = sequence("main", [task, say("said", expr("answer.by"))]);
    let mut instance = Instance::run(remembering(json!({ "answer": null }), root));
    let [Effect::Task { task, .. }] = instance.effects.as_slice() else {
        panic!("{:?}", instance.effects);
    };
    assert_eq!(
        (task.name.as_str(), &task.payload),
        ("sign", &json!({ "page": 3 }))
    );
    let hash = StimulusHash::of(TASK, &json!({ "task": task.id }), None).unwrap();
    let bookmark = instance.state.waiting()[0].clone();
    assert_eq!(bookmark.hash, hash);
    instance.resume(&bookmark, json!({ "by": "Ada" }));
    assert_eq!(instance.lines(), ["Ada"]);
    instance.is_finished();
}

#[test]
fn work_outside_gives_a_result_or_a_failure() {
    let job = json!({
        "type": "Job", "id": "job", "with": { "name": "print", "args": [1] }, "into": "paper",
    });
    let root = || sequence("main", [job.clone(), say("said", expr("paper"))]);
    let mut instance = Instance::run(remembering(json!({ "paper": null }), root()));
    let [
        Effect::Job {
            bookmark,
            job: work,
        },
    ] = instance.effects.as_slice()
    else {
        panic!("{:?}", instance.effects);
    };
    let waiting = instance.state.waiting()[0].clone();
    assert_eq!((&waiting.id, work.kind.as_str()), (bookmark, "print"));
    assert_eq!(work.with, json!([1]));
    instance.resume(&waiting, json!({ "result": "done" }));
    assert_eq!(instance.lines(), ["done"]);

    let mut instance = Instance::run(remembering(json!({ "paper": null }), root()));
    let waiting = instance.state.waiting()[0].clone();
    let failure = json!({ "code": "print.jam", "message": "no paper" });
    instance.resume(&waiting, json!({ "failure": failure }));
    assert_eq!(instance.codes(), ["print.jam"]);
}

#[test]
fn an_instance_knows_when_it_was_over() {
    let mut instance = Instance::run(definition(event("go")));
    assert_eq!(instance.state.finished, None);
    instance.clock.set(NOON + 5);
    instance.event("go", json!({}));
    assert_eq!(instance.state.finished, Some(Time::from_millis(NOON + 5)));
}
