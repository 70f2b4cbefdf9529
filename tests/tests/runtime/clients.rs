//! Creating and running instances.

use crate::support::{World, definition, instance, kind, of, soon, values};
use lockwork::flow::{Parameter, build::*};
use lockwork::runtime::ErrorKind;
use lockwork::workflow::{CreateAndRun, Delivery, Run, Runtime, Status, SubStatus, Target};
use serde_json::json;

#[tokio::test]
async fn what_is_created_is_not_executed() {
    let world = World::new().await;
    world
        .publish(workflow("w").root(log("hello", "hello")))
        .await;
    let created = soon(world.client("a").create(of("w"))).await.unwrap();
    assert!(created.is_new);
    assert_eq!(world.settle().await, 0);
    assert_eq!(world.status("a").await, SubStatus::Pending);
    assert!(world.logged("a").await.is_empty());
}

#[tokio::test]
async fn what_was_created_can_be_run_once() {
    let world = World::new().await;
    world
        .publish(workflow("w").root(log("hello", "hello")))
        .await;
    let client = world.client("a");
    soon(client.create(of("w"))).await.unwrap();
    let first = soon(client.run(Run::default())).await.unwrap();
    let second = soon(client.run(Run::default())).await.unwrap();
    assert_eq!(first.sub_status, SubStatus::Finished);
    assert_eq!(
        (first.delivery, second.delivery),
        (Delivery::Done, Delivery::Over)
    );
    assert_eq!(world.logged("a").await, ["hello"]);
}

#[tokio::test]
async fn input_goes_in_and_output_comes_out() {
    let world = World::new().await;
    let double = set_output("double", "twice", expr("input.number * 2"));
    world
        .publish(workflow("w").input("number").output("twice").root(double))
        .await;
    let ran = world
        .start("a", of("w").input(values(json!({ "number": 21 }))))
        .await;
    assert_eq!(ran.output["twice"], json!(42));
}

#[tokio::test]
async fn an_instance_that_was_started_leaves_nothing_to_be_done() {
    let world = World::new().await;
    world
        .publish(workflow("w").root(log("hello", "hello")))
        .await;
    world.start("a", of("w")).await;
    assert_eq!(world.settle().await, 0);
    world.clock.advance(crate::support::DAY);
    assert_eq!(world.settle().await, 0);
}

#[tokio::test]
async fn a_client_without_an_id_has_one_of_its_own() {
    let world = World::new().await;
    let (one, other) = (world.runtime().client(None), world.runtime().client(None));
    assert_ne!(one.id(), other.id());
    assert!(!soon(one.exists()).await.unwrap());
}

#[tokio::test]
async fn an_instance_exists_once_it_is_created() {
    let world = World::new().await;
    world
        .publish(workflow("w").root(log("hello", "hello")))
        .await;
    assert!(!world.exists("a").await);
    soon(world.client("a").create(of("w"))).await.unwrap();
    assert!(world.exists("a").await);
}

#[tokio::test]
async fn an_id_is_given_once() {
    let world = World::new().await;
    world
        .publish(workflow("w").root(log("hello", "hello")))
        .await;
    let client = world.client("a");
    soon(client.create(of("w"))).await.unwrap();
    assert_eq!(
        kind(soon(client.create(of("w"))).await),
        ErrorKind::Conflict
    );
}

#[tokio::test]
async fn of_what_nobody_has_published_nothing_is_created() {
    let world = World::new().await;
    let client = world.client("a");
    assert_eq!(
        kind(soon(client.create(of("w"))).await),
        ErrorKind::NotFound
    );
    let both = soon(client.create_and_run(CreateAndRun::new(of("w")))).await;
    assert_eq!(kind(both), ErrorKind::NotFound);
    assert!(!world.exists("a").await);
}

#[tokio::test]
async fn of_what_was_retracted_nothing_is_created_and_what_runs_goes_on() {
    let world = World::new().await;
    let root = sequence("all", [event("wait", "Go"), log("on", "on")]);
    world.publish(workflow("w").root(root)).await;
    world.start("a", of("w")).await;
    let definitions = world.runtime().definitions();
    assert!(soon(definitions.retract(&definition("w"))).await.unwrap());
    assert!(!soon(definitions.retract(&definition("w"))).await.unwrap());
    let refused = soon(world.client("b").create(of("w"))).await;
    assert_eq!(kind(refused), ErrorKind::NotFound);
    world.event("Go", json!({})).await;
    assert_eq!(world.logged("a").await, ["on"]);
    assert_eq!(world.state("a").await.sub_status.status(), Status::Finished);
}

#[tokio::test]
async fn what_does_not_exist_cannot_be_run_cancelled_or_exported() {
    let world = World::new().await;
    let client = world.client("a");
    assert_eq!(
        kind(soon(client.run(Run::default())).await),
        ErrorKind::NotFound
    );
    assert_eq!(kind(soon(client.cancel()).await), ErrorKind::NotFound);
    assert_eq!(kind(soon(client.export()).await), ErrorKind::NotFound);
}

#[tokio::test]
async fn an_instance_is_not_created_without_its_required_input() {
    let world = World::new().await;
    let needs = workflow("w").input(Parameter::new("order").required());
    world.publish(needs.root(log("hello", "hello"))).await;
    let refused = soon(world.client("a").create(of("w"))).await;
    assert_eq!(kind(refused), ErrorKind::Invalid);
    assert!(!world.exists("a").await);
    world
        .start("a", of("w").input(values(json!({ "order": 1 }))))
        .await;
}

#[tokio::test]
async fn a_hundred_megabytes_of_input_are_refused() {
    let world = World::new().await;
    world
        .publish(workflow("w").root(log("hello", "hello")))
        .await;
    let much = values(json!({ "much": "x".repeat(100 << 20) }));
    let refused = soon(world.client("a").create(of("w").input(much))).await;
    assert_eq!(kind(refused), ErrorKind::Invalid);
    assert!(!world.exists("a").await);
}

#[tokio::test]
async fn of_several_starts_with_one_key_one_counts() {
    let world = World::new().await;
    world
        .publish(workflow("w").root(call("once", "note")))
        .await;
    let first = world.start("a", of("w").key("order-1")).await;
    let second = world.start("b", of("w").key("order-1")).await;
    assert_eq!(
        (first.instance, second.instance),
        (instance("a"), instance("a"))
    );
    assert!(!world.exists("b").await);
    assert_eq!(world.notes.all().len(), 1);
}

#[tokio::test]
async fn whoever_comes_late_with_a_key_is_told_what_the_first_is_an_instance_of() {
    let world = World::new().await;
    let old = world.publish(workflow("w").root(log("one", "one"))).await;
    soon(world.client("a").create(of("w").key("k")))
        .await
        .unwrap();
    world.publish(workflow("w").root(log("two", "two"))).await;
    let late = soon(world.client("b").create(of("w").key("k")))
        .await
        .unwrap();
    assert_eq!((late.instance, late.is_new), (instance("a"), false));
    assert_eq!(late.version, old.id);
}

#[tokio::test]
async fn a_burst_goes_on_when_nobody_waits_for_its_answer() {
    let world = World::new().await;
    let root = sequence("all", [call("wait", "gate"), log("on", "on")]);
    world.publish(workflow("w").root(root)).await;
    let mut events = world.runtime().events();
    let asked = world.spawn_start("a", of("w"));
    world.gate.called(1).await;
    asked.abort();
    world.gate.open();
    let id = instance("a");
    crate::support::reaches(&*world.store, &mut events, &id, SubStatus::Finished).await;
    assert_eq!(world.logged("a").await, ["on"]);
}

#[tokio::test]
async fn a_bookmark_is_resumed_with_what_is_delivered() {
    let world = World::new().await;
    let root = event("wait", "Go").into("got");
    world
        .publish(workflow("w").variable("got", ()).root(root))
        .await;
    world.start("a", of("w")).await;
    let at = Run::at(Target::Bookmark(world.bookmark("a").await));
    let client = world.client("a");
    let ran = soon(client.run(at.clone().input(values(json!({ "n": 1 })))))
        .await
        .unwrap();
    assert_eq!(
        (ran.delivery, ran.sub_status),
        (Delivery::Done, SubStatus::Finished)
    );
    assert_eq!(world.state("a").await.variables["got"], json!({ "n": 1 }));
    assert_eq!(soon(client.run(at)).await.unwrap().delivery, Delivery::Over);
}
