//! A node that ends while requests wait for an instance that another node has.

use crate::{
    place::{Place, key},
    support::{World, kind, of, soon},
};
use lockwork::{
    flow::build::*,
    runtime::{Clock, Drained},
    workflow::{CreateAndRun, ErrorKind, InstanceId, Run},
};

/// Ends when the lock of `a` was asked for.
async fn until_asked(place: &Place) {
    soon(async {
        while !place.asked().contains(&(key("a"), true)) {
            tokio::task::yield_now().await;
        }
    })
    .await;
}

#[tokio::test]
async fn a_request_that_waits_for_its_turn_is_given_up_when_its_node_ends() {
    let place = Place::new();
    let world = World::with(|builder| place.join(builder)).await;
    world.publish(workflow("w").root(log("say", "hello"))).await;
    soon(world.client("a").create(of("w"))).await.unwrap();
    let held = place.hold(&key("a")).await;
    let client = world.client("a");
    let waits = tokio::spawn(async move { client.run(Run::default()).await });
    until_asked(&place).await;
    assert_eq!(soon(world.runtime().drain()).await, Drained::Done);
    assert_eq!(kind(soon(waits).await.unwrap()), ErrorKind::Stopping);
    held.release().await.unwrap();
    // Nobody of this node has it: the next one is in.
    drop(soon(place.hold(&key("a"))).await);
}

#[tokio::test]
async fn what_was_created_and_not_begun_is_for_others_at_once_when_its_node_ends() {
    let place = Place::new();
    let world = World::with(|builder| place.join(builder)).await;
    world.publish(workflow("w").root(log("say", "hello"))).await;
    let _held = place.hold(&key("a")).await;
    let (runtime, id) = (world.runtime(), InstanceId::new("a").unwrap());
    let created = soon(runtime.begin(Some(id), CreateAndRun::new(of("w")))).await;
    assert!(created.unwrap().is_new);
    until_asked(&place).await;
    assert_eq!(soon(runtime.drain()).await, Drained::Done);
    let due = soon(runtime.store().next_due()).await.unwrap();
    assert_eq!(due, Some(world.clock.now()), "not when its hold is over");
}
