//! Which request takes which lock.

use crate::{
    place::{Place, key, options, until},
    support::{fresh_store, instance, joined, of, soon},
};
use lockwork::{
    distributed::Distributed,
    flow::build::*,
    runtime::RuntimeBuilder,
    workflow::{Create, CreateAndRun, DefinitionHandle, Run, Runtime, SubStatus},
};
use serde_json::json;

/// Waits for `Go`, and notes that it came.
fn waits() -> Workflow {
    let steps = [
        event("wait", "Go"),
        call("then", "note").with("args", "went"),
    ];
    workflow("w").root(sequence("all", steps))
}

#[tokio::test]
async fn one_call_makes_a_runtime_distributed_and_nothing_else_changes() {
    let (place, (store, _kept)) = (Place::new(), fresh_store().await);
    let runtime = RuntimeBuilder::new(store)
        .distributed(place.locks(), options())
        .unwrap();
    soon(runtime.start()).await.unwrap();
    let hello = workflow("hello").root(event("wait", "Go")).build().unwrap();
    let published = soon(runtime.definitions().publish(hello)).await.unwrap();
    let create = Create::new(DefinitionHandle::Version(published.id));
    let client = runtime.client(Some(instance("a")));
    let ran = soon(client.create_and_run(CreateAndRun::new(create))).await;
    assert_eq!(ran.unwrap().sub_status, SubStatus::Suspended);
    let reached = soon(runtime.sender().event("Go", json!({}))).await.unwrap();
    assert_eq!(reached.resumed[0].sub_status, SubStatus::Finished);
    soon(runtime.drain()).await;
    assert!(place.names().contains(&key("a")));
}

#[tokio::test]
async fn a_client_without_an_id_makes_a_new_one_and_asks_nobody() {
    let place = Place::new();
    let world = place.world().await;
    let (one, other) = (world.runtime().client(None), world.runtime().client(None));
    assert_ne!(one.id(), other.id());
    assert_eq!(
        world.runtime().client(Some(instance("a"))).id(),
        &instance("a")
    );
    assert!(place.asked().is_empty());
}

#[tokio::test]
async fn creating_takes_no_lock() {
    let place = Place::new();
    let world = place.world().await;
    world.publish(waits()).await;
    let _held = place.hold(&key("a")).await;
    soon(world.client("a").create(of("w"))).await.unwrap();
    assert!(world.exists("a").await);
    assert!(place.asked().is_empty());
}

#[tokio::test]
async fn running_takes_the_lock_of_the_instance_for_the_burst() {
    let place = Place::new();
    let world = place.world().await;
    world
        .publish(workflow("w").root(call("stay", "gate")))
        .await;
    soon(world.client("a").create(of("w"))).await.unwrap();
    let client = world.client("a");
    let running = tokio::spawn(async move { client.run(Run::default()).await });
    world.gate.called(1).await;
    assert_eq!(place.names(), [key("a")]);
    assert!(place.is_held(&key("a")).await);
    world.gate.open();
    assert_eq!(
        joined(running).await.unwrap().sub_status,
        SubStatus::Finished
    );
    place.is_free(&key("a")).await;
}

#[tokio::test]
async fn create_and_run_creates_unlocked_and_runs_locked() {
    let place = Place::new();
    let world = place.world().await;
    world.publish(waits()).await;
    let held = place.hold(&key("a")).await;
    let started = world.spawn_start("a", of("w"));
    soon(async {
        while !world.exists("a").await {
            tokio::task::yield_now().await;
        }
    })
    .await;
    assert_eq!(world.status("a").await, SubStatus::Pending);
    assert!(!started.is_finished(), "somebody else has the lock");
    drop(held);
    assert_eq!(
        joined(started).await.unwrap().sub_status,
        SubStatus::Suspended
    );
}

#[tokio::test]
async fn deleting_waits_for_the_lock() {
    let place = Place::new();
    let world = place.world().await;
    world.publish(waits()).await;
    world.start("a", of("w")).await;
    let held = place.hold(&key("a")).await;
    let client = world.client("a");
    let deleting = tokio::spawn(async move { client.delete().await });
    for _ in 0..10 {
        tokio::task::yield_now().await;
    }
    assert!(world.exists("a").await);
    drop(held);
    assert!(joined(deleting).await.unwrap());
    assert!(!world.exists("a").await);
}

#[tokio::test]
async fn export_import_and_exists_take_no_lock() {
    let place = Place::new();
    let world = place.world().await;
    world.publish(waits()).await;
    world.start("a", of("w")).await;
    let _held = place.hold(&key("a")).await;
    place.asked();
    let export = soon(world.client("a").export()).await.unwrap();
    soon(world.client("a").import(export)).await.unwrap();
    assert!(world.exists("a").await);
    assert!(place.asked().is_empty());
}

#[tokio::test]
async fn other_instances_run_at_the_same_time_on_other_nodes() {
    let place = Place::new();
    let world = place.world().await;
    let other = world.node(|builder| place.join(builder));
    world
        .publish(workflow("w").root(call("stay", "gate")))
        .await;
    let (a, b) = (
        world.spawn_start("a", of("w")),
        other.spawn_start("b", of("w")),
    );
    world.gate.called(1).await;
    other.gate.called(1).await;
    world.gate.open();
    other.gate.open();
    joined(a).await.unwrap();
    joined(b).await.unwrap();
}

#[tokio::test]
async fn one_instance_runs_on_one_node_at_a_time() {
    let place = Place::new();
    let world = place.world().await;
    let other = world.node(|builder| place.join(builder));
    world
        .publish(workflow("w").root(call("stay", "gate")))
        .await;
    let first = world.spawn_start("a", of("w"));
    world.gate.called(1).await;
    let client = other.client("a");
    let second = tokio::spawn(async move { client.run(Run::default()).await });
    until(|| place.names().contains(&key("a"))).await;
    for _ in 0..100 {
        tokio::task::yield_now().await;
    }
    assert_eq!(other.gate.calls(), 0, "it waits for its turn");
    world.gate.open();
    joined(first).await.unwrap();
    joined(second).await.unwrap();
    assert_eq!(other.gate.calls(), 0, "the instance was over by then");
}
