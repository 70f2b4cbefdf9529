//! How many instances of a workflow run at once.

use crate::support::{World, event_called, instance, joined, kind, of, soon};
use lockwork::flow::{Activation, build::*};
use lockwork::runtime::{ErrorKind, Event};
use lockwork::workflow::{Addressee, SubStatus};
use serde_json::json;

fn waits(id: &str, activation: Activation) -> Workflow {
    workflow(id)
        .activation(activation)
        .root(event("wait", "Go"))
}

async fn refused(world: &World, id: &str, create: lockwork::workflow::Create) -> ErrorKind {
    let refused = soon(world.client(id).create(create)).await;
    assert!(!world.exists(id).await);
    kind(refused)
}

#[tokio::test]
async fn of_a_single_workflow_one_runs_at_a_time() {
    let world = World::new().await;
    world.publish(waits("w", Activation::Single)).await;
    world.start("a", of("w")).await;
    assert_eq!(
        refused(&world, "b", of("w").correlation("c")).await,
        ErrorKind::Conflict
    );
    world.event("Go", json!({})).await;
    world.start("b", of("w")).await;
}

#[tokio::test]
async fn a_place_is_free_once_its_instance_was_cancelled_or_has_failed() {
    let world = World::new().await;
    let root = sequence("all", [event("wait", "Go"), fault("no", "no", "no")]);
    world
        .publish(workflow("w").activation(Activation::Single).root(root))
        .await;
    world.start("a", of("w")).await;
    soon(world.client("a").cancel()).await.unwrap();
    world.start("b", of("w")).await;
    world.event("Go", json!({})).await;
    assert_eq!(world.status("b").await, SubStatus::Faulted);
    world.start("c", of("w")).await;
}

#[tokio::test]
async fn of_all_with_one_correlation_one_runs_whatever_its_workflow() {
    let world = World::new().await;
    world.publish(waits("w", Activation::Correlation)).await;
    world.publish(waits("v", Activation::Correlation)).await;
    world.start("a", of("w").correlation("one")).await;
    assert_eq!(
        refused(&world, "b", of("v").correlation("one")).await,
        ErrorKind::Conflict
    );
    world.start("b", of("v").correlation("two")).await;
}

#[tokio::test]
async fn of_one_workflow_one_runs_for_each_correlation() {
    let world = World::new().await;
    world
        .publish(waits("w", Activation::SingleCorrelation))
        .await;
    world
        .publish(waits("v", Activation::SingleCorrelation))
        .await;
    world.start("a", of("w").correlation("one")).await;
    assert_eq!(
        refused(&world, "b", of("w").correlation("one")).await,
        ErrorKind::Conflict
    );
    world.start("b", of("w").correlation("two")).await;
    world.start("c", of("v").correlation("one")).await;
}

#[tokio::test]
async fn whoever_runs_once_for_each_correlation_has_one() {
    let world = World::new().await;
    world
        .publish(waits("w", Activation::SingleCorrelation))
        .await;
    world.publish(waits("v", Activation::Correlation)).await;
    assert_eq!(refused(&world, "a", of("w")).await, ErrorKind::Invalid);
    assert_eq!(refused(&world, "a", of("v")).await, ErrorKind::Invalid);
}

#[tokio::test]
async fn names_that_look_alike_are_not_taken_for_each_other() {
    let world = World::new().await;
    world
        .publish(waits("a", Activation::SingleCorrelation))
        .await;
    world
        .publish(waits("a:correlation:b", Activation::Single))
        .await;
    world
        .publish(waits("a:correlation:b", Activation::SingleCorrelation))
        .await;
    world
        .start("one", of("a").correlation("b:correlation:c"))
        .await;
    world
        .start("two", of("a:correlation:b").correlation("c"))
        .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_eight_who_start_it_at_once_one_does() {
    let world = World::new().await;
    world.publish(waits("w", Activation::Single)).await;
    let starts: Vec<_> = (0..8)
        .map(|at| world.spawn_start(&format!("a{at}"), of("w")))
        .collect();
    let mut started = 0;
    for start in starts {
        match joined(start).await {
            Ok(_) => started += 1,
            Err(error) => assert_eq!(error.kind(), ErrorKind::Conflict),
        }
    }
    assert_eq!((started, world.count().await), (1, 1));
}

#[tokio::test]
async fn an_event_that_cannot_start_another_one_is_no_error() {
    let world = World::new().await;
    let root = sequence("all", [event("go", "Go").starts(), event("wait", "On")]);
    world
        .publish(workflow("w").activation(Activation::Single).root(root))
        .await;
    assert_eq!(world.event("Go", json!({})).await.started.len(), 1);
    let mut events = world.runtime().events();
    let reached = world.event("Go", json!({})).await;
    assert_eq!((reached.started.len(), reached.later), (0, 0));
    assert!(matches!(
        soon(events.recv()).await.unwrap(),
        Event::NotStarted { .. }
    ));
    assert_eq!((world.settle().await, world.count().await), (0, 1));
    assert!(
        soon(world.runtime().dead_letters().list())
            .await
            .unwrap()
            .is_empty()
    );
}

#[tokio::test]
async fn an_event_starts_one_for_each_correlation() {
    let world = World::new().await;
    let root = sequence("all", [event("go", "Go").starts(), event("wait", "On")]);
    world
        .publish(
            workflow("w")
                .activation(Activation::SingleCorrelation)
                .root(root),
        )
        .await;
    for correlation in ["one", "two", "one"] {
        let mut to = Addressee::default();
        to.correlation = Some(correlation.into());
        world.send(event_called("Go").to(to)).await;
    }
    assert_eq!(world.count().await, 2);
}

#[tokio::test]
async fn what_failed_is_not_retried_while_another_one_runs_in_its_place() {
    let world = World::new().await;
    let root = sequence("all", [call("fails", "refuse"), log("on", "on")]);
    world
        .publish(workflow("w").activation(Activation::Single).root(root))
        .await;
    let failed = world.start("a", of("w")).await;
    assert_eq!(failed.sub_status, SubStatus::Faulted);
    world.publish(waits("w", Activation::Single)).await;
    world.start("b", of("w")).await;
    let (resumer, id) = (world.runtime().resumer(), instance("a"));
    let execution = failed.incidents[0].execution.clone();
    let retried = soon(resumer.retry(&id, execution.clone())).await;
    assert_eq!(kind(retried), ErrorKind::Conflict);
    assert_eq!(world.status("a").await, SubStatus::Faulted);
    world.event("Go", json!({})).await;
    let retried = soon(resumer.retry(&id, execution)).await.unwrap();
    assert_eq!(
        retried.sub_status,
        SubStatus::Faulted,
        "it was retried, and failed again"
    );
}
