//! Other instances: started, waited for, counted.

use crate::support::{Instance, definition, expr, log, remembering, say, sequence, values};
use lockwork_core::workflow::{
    Create, DefinitionHandle, Delivery, InstanceId, Parent, Run, StimulusHash, SubStatus, Target,
    Time, Value, VersionId,
};
use lockwork_flow::{Effect, State, ended};
use serde_json::json;

/// The instances that were to be started, in this order.
fn started(instance: &Instance) -> Vec<(InstanceId, Create)> {
    let started = instance.effects.iter().filter_map(|effect| match effect {
        Effect::Dispatch { instance, create } => Some((instance.clone(), create.clone())),
        _ => None,
    });
    started.collect()
}

/// A child tells its end, as the runtime would deliver it.
fn end(parent: &mut Instance, child: &(InstanceId, Create), sub_status: SubStatus) -> Delivery {
    let version = VersionId::new("child-1").unwrap();
    let mut state = State::new(child.0.clone(), version, Time::from_millis(0));
    state.sub_status = sub_status;
    state.parent = child.1.parent.clone();
    state.output = values(json!({ "sum": 42 }));
    let told = ended(&state).unwrap();
    assert_eq!(told, ended(&state).unwrap(), "the same each time");
    assert_eq!(told.to.instance.as_ref(), Some(&parent.state.instance));
    let mut waiting = parent.state.bookmarks.iter();
    let Some(bookmark) = waiting.find(|one| one.hash == told.hash) else {
        return Delivery::Consumed;
    };
    let run = Run::at(Target::Bookmark(bookmark.id.clone()));
    parent.go(run.input(told.input))
}

fn workflow(kind: &str, with: Value) -> Value {
    json!({ "type": kind, "id": "child", "with": with, "into": "got" })
}

fn run(kind: &str, with: Value) -> Instance {
    let root = sequence("main", [workflow(kind, with), say("got", expr("got"))]);
    Instance::run(remembering(json!({ "got": null, "n": 7 }), root))
}

#[test]
fn a_child_that_is_not_waited_for_is_started_and_that_is_all() {
    let with = json!({ "definition": "child", "input": { "n": expr("n") }, "correlation": "c" });
    let instance = run("DispatchWorkflow", with);
    instance.is_finished();
    let [(id, create)] = started(&instance).try_into().unwrap();
    let version = VersionId::new("child-1").unwrap();
    assert_eq!(
        create.definition,
        DefinitionHandle::Version(version),
        "as published now"
    );
    assert_eq!(Value::Object(create.input), json!({ "n": 7 }));
    assert_eq!(create.correlation.as_deref(), Some("c"));
    let parent = Parent {
        instance: instance.state.instance.clone(),
        waiting: None,
    };
    assert_eq!(create.parent, Some(parent));
    assert_eq!(instance.lines(), [json!({ "instance": id }).to_string()]);
}

#[test]
fn a_child_that_is_waited_for_tells_its_end() {
    let mut instance = run(
        "DispatchWorkflow",
        json!({ "definition": "child", "wait": true }),
    );
    instance.is(SubStatus::Suspended);
    let [child] = started(&instance).try_into().unwrap();
    assert_eq!(
        end(&mut instance, &child, SubStatus::Faulted),
        Delivery::Done
    );
    let got = &instance.state.variables["got"];
    assert_eq!(got["status"], json!("faulted"));
    assert_eq!(got["output"], json!({ "sum": 42 }));
    assert_eq!(got["instance"], json!(child.0));
    instance.is_finished();
}

#[test]
fn whoever_executes_a_workflow_gets_its_output() {
    let mut instance = run("ExecuteWorkflow", json!({ "definition": "child" }));
    instance.is(SubStatus::Suspended);
    let [child] = started(&instance).try_into().unwrap();
    end(&mut instance, &child, SubStatus::Finished);
    assert_eq!(instance.state.variables["got"], json!({ "sum": 42 }));
    instance.is_finished();
}

#[test]
fn whoever_executes_a_workflow_fails_if_that_does() {
    for sub_status in [SubStatus::Faulted, SubStatus::Cancelled] {
        let mut instance = run("ExecuteWorkflow", json!({ "definition": "child" }));
        let [child] = started(&instance).try_into().unwrap();
        end(&mut instance, &child, sub_status);
        instance.is(SubStatus::Faulted);
        assert_eq!(instance.codes(), ["workflow.failed"]);
    }
}

#[test]
fn a_workflow_that_nobody_knows_is_a_failure() {
    for (kind, with) in [
        ("DispatchWorkflow", json!({ "definition": "nobody" })),
        ("ExecuteWorkflow", json!({ "definition": "nobody" })),
        ("ExecuteWorkflow", json!({ "definition": "" })),
        (
            "BulkDispatch",
            json!({ "definition": "nobody", "items": [1, 2], "wait": true }),
        ),
    ] {
        let instance = run(kind, with);
        instance.is(SubStatus::Faulted);
        assert_eq!(instance.codes(), ["definition.missing"]);
        assert!(instance.effects.is_empty(), "{kind}");
    }
}

#[test]
fn an_end_that_is_told_late_is_not_that_of_the_next_child() {
    let mut child = workflow("ExecuteWorkflow", json!({ "definition": "child" }));
    child["retry"] = json!({ "times": 1, "after": "0s" });
    let mut instance = Instance::run(remembering(json!({ "got": null }), child));
    let [first] = started(&instance).try_into().unwrap();
    end(&mut instance, &first, SubStatus::Faulted);
    let [_, second] = started(&instance).try_into().unwrap();
    assert_ne!(first.0, second.0);
    end(&mut instance, &first, SubStatus::Finished);
    instance.is(SubStatus::Suspended);
    end(&mut instance, &second, SubStatus::Finished);
    instance.is_finished();
}

fn bulk(with: Value, ports: Value) -> Instance {
    let mut bulk = workflow("BulkDispatch", with);
    if !ports.is_null() {
        bulk["do"] = ports;
    }
    let root = sequence("main", [bulk, log("after")]);
    Instance::run(remembering(json!({ "got": null }), root))
}

#[test]
fn many_children_are_joined_and_each_counts_once() {
    let with = json!({ "definition": "child", "items": [1, 2, 3], "wait": true });
    let mut instance = bulk(with, json!({}));
    let children = started(&instance);
    assert_eq!(children.len(), 3);
    // The same end again and again, then the others in another order than they began.
    for _ in 0..4 {
        end(&mut instance, &children[1], SubStatus::Finished);
    }
    instance.is(SubStatus::Suspended);
    end(&mut instance, &children[2], SubStatus::Faulted);
    end(&mut instance, &children[2], SubStatus::Faulted);
    instance.is(SubStatus::Suspended);
    end(&mut instance, &children[0], SubStatus::Finished);
    assert_eq!(instance.lines(), ["after"]);
    let ids: Vec<_> = children.iter().map(|(id, _)| id).collect();
    let expected = json!({ "instances": ids, "completed": 2, "faulted": 1 });
    assert_eq!(instance.state.variables["got"], expected);
    assert_eq!(
        end(&mut instance, &children[0], SubStatus::Finished),
        Delivery::Consumed
    );
    instance.is_finished();
}

#[test]
fn each_end_runs_the_port_that_is_called_so() {
    let ports = json!({
        "completed": say("ok", json!({ "$text": "ok {{ child.output.sum }}" })),
        "faulted": say("bad", json!({ "$text": "bad {{ child.status }}" })),
    });
    let with = json!({ "definition": "child", "items": [1, 2], "wait": true });
    let mut instance = bulk(with, ports);
    let children = started(&instance);
    end(&mut instance, &children[0], SubStatus::Faulted);
    assert_eq!(instance.lines(), ["bad faulted"]);
    end(&mut instance, &children[1], SubStatus::Finished);
    assert_eq!(instance.lines(), ["bad faulted", "ok 42", "after"]);
    instance.is_finished();
}

#[test]
fn what_a_port_runs_is_waited_for() {
    let ports = json!({ "completed": crate::support::event("go") });
    let with = json!({ "definition": "child", "items": [1], "wait": true });
    let mut instance = bulk(with, ports);
    let [child] = started(&instance).try_into().unwrap();
    end(&mut instance, &child, SubStatus::Finished);
    instance.is(SubStatus::Suspended);
    end(&mut instance, &child, SubStatus::Finished);
    assert!(instance.lines().is_empty());
    instance.event("go", json!({}));
    assert_eq!(instance.lines(), ["after"]);
    instance.is_finished();
}

#[test]
fn no_items_are_no_children() {
    for wait in [true, false] {
        let with = json!({ "definition": "child", "items": [], "wait": wait });
        let instance = bulk(with, Value::Null);
        assert_eq!(instance.lines(), ["after"]);
        assert!(instance.effects.is_empty());
        instance.is_finished();
    }
}

#[test]
fn each_child_is_given_its_item_and_what_all_are_given() {
    let with = json!({
        "definition": "child", "items": [{ "n": 1 }, "x"], "input": { "all": true },
        "correlation": { "$text": "c-{{ index }}" },
    });
    let instance = bulk(with, Value::Null);
    instance.is_finished();
    let given: Vec<_> = started(&instance)
        .into_iter()
        .map(|(_, create)| (Value::Object(create.input), create.correlation.unwrap()))
        .collect();
    assert_eq!(given[0], (json!({ "all": true, "n": 1 }), "c-0".to_owned()));
    assert_eq!(
        given[1],
        (json!({ "all": true, "item": "x" }), "c-1".to_owned())
    );
}

#[test]
fn either_all_children_are_started_or_none() {
    let with = json!({
        "definition": "child", "items": [{ "id": "a" }, {}], "correlation": expr("item.id"),
    });
    let instance = bulk(with, Value::Null);
    assert_eq!(instance.codes(), ["expression"]);
    assert!(instance.effects.is_empty());
}

#[test]
fn an_instance_whose_parent_waits_tells_its_end_by_itself() {
    let mut child = Instance::new(definition(log("a")));
    let parent = InstanceId::new("parent").unwrap();
    let waiting = Some(lockwork_core::workflow::ExecutionId::numbered(3));
    child.state.parent = Some(Parent {
        instance: parent.clone(),
        waiting,
    });
    child.go(Run::default());
    let [Effect::Send(told)] = child.effects.as_slice() else {
        panic!("{:?}", child.effects);
    };
    assert_eq!(Some(told), ended(&child.state).as_ref());
    let payload = json!({ "parent": "parent", "execution": "3" });
    assert_eq!(
        told.hash,
        StimulusHash::of("Child", &payload, None).unwrap()
    );
    assert_eq!(told.input["status"], json!("finished"));

    let mut alone = Instance::new(definition(log("a")));
    alone.state.parent = Some(Parent {
        instance: parent,
        waiting: None,
    });
    alone.go(Run::default());
    assert!(alone.effects.is_empty(), "nobody waits");
}
