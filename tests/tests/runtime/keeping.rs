//! Nodes keep what they are at, for as long as they are, and look for more only when there may be some.
//!
//! Time passes for the workers and for the runtime together, as fast as everybody is idle; so most of these hold in
//! memory only, where nobody is idle who waits for an answer.

use crate::{
    shaky::Shaky,
    support::{Gate, World, instance, joined, of, reaches, soon, time_is_ours},
};
use lockwork::flow::build::*;
use lockwork::runtime::{
    Clock, Drained, Options, RuntimeBuilder, VirtualClock,
    store::{Errand, ErrandKind, ErrandStore},
};
use lockwork::workflow::{Run, SubStatus};
use serde_json::json;
use std::time::Duration;

const MINUTES: Duration = Duration::from_secs(150);

/// Lets time pass for everybody.
async fn pass(clock: &VirtualClock, long: Duration) {
    const STEP: Duration = Duration::from_millis(500);
    for _ in 0..long.as_millis() / STEP.as_millis() {
        tokio::time::sleep(STEP).await;
        clock.advance(STEP);
    }
}

#[tokio::test(start_paused = true)]
async fn what_waits_for_its_turn_is_not_handed_to_another() {
    if !time_is_ours() {
        return;
    }
    let world = World::new().await;
    let first = sequence("first", [event("one", "One"), call("stay", "gate")]);
    let second = sequence("second", [event("two", "Two"), call("note", "note")]);
    world
        .publish(workflow("w").root(parallel("both", [first, second])))
        .await;
    world.start("a", of("w")).await;
    soon(world.runtime().start()).await.unwrap();
    let send = |name: &'static str| {
        let sender = world.runtime().sender();
        tokio::spawn(async move { sender.event(name, json!({})).await })
    };
    let one = send("One");
    world.gate.called(1).await;
    let two = send("Two");
    pass(&world.clock, MINUTES).await;
    world.gate.open();
    joined(one).await.unwrap();
    assert_eq!(joined(two).await.unwrap().later, 0);
    assert_eq!(world.notes.all().len(), 1);
    assert_eq!(world.status("a").await, SubStatus::Finished);
    soon(world.runtime().drain()).await;
}

#[tokio::test(start_paused = true)]
async fn what_is_at_the_end_of_a_long_line_is_not_handed_to_another() {
    if !time_is_ours() {
        return;
    }
    let mut options = Options::default();
    options.bursts = 1;
    let world = World::with(|builder| builder.options(options)).await;
    let other = world.node(|builder| builder);
    world
        .publish(workflow("w").root(sequence("all", [event("go", "Go"), call("stay", "gate")])))
        .await;
    for id in ["a", "b", "c"] {
        world.start(id, of("w")).await;
    }
    soon(world.runtime().start()).await.unwrap();
    let sender = world.runtime().sender();
    let sent = tokio::spawn(async move { sender.event("Go", json!({})).await });
    world.gate.called(1).await;
    pass(&world.clock, MINUTES).await;
    assert_eq!(other.settle().await, 0);
    world.gate.open();
    assert_eq!(joined(sent).await.unwrap().resumed.len(), 3);
    assert_eq!((world.gate.calls(), world.gate.most()), (3, 1));
    soon(world.runtime().drain()).await;
}

#[tokio::test(start_paused = true)]
async fn what_comes_to_the_end_of_its_step_while_its_node_ends_is_not_handed_to_another() {
    if !time_is_ours() {
        return;
    }
    let mut options = Options::default();
    options.drain = MINUTES * 2;
    let world = World::with(|builder| builder.options(options)).await;
    let other = world.node(|builder| builder);
    let steps = [event("go", "Go"), call("stay", "gate"), log("on", "on")];
    world
        .publish(workflow("w").root(sequence("all", steps)))
        .await;
    world.start("a", of("w")).await;
    soon(world.runtime().start()).await.unwrap();
    let (sender, runtime) = (world.runtime().sender(), world.runtime().clone());
    let sent = tokio::spawn(async move { sender.event("Go", json!({})).await });
    world.gate.called(1).await;
    let draining = tokio::spawn(async move { runtime.drain().await });
    pass(&world.clock, MINUTES).await;
    assert_eq!(other.settle().await, 0);
    world.gate.open();
    assert_eq!(joined(draining).await, Drained::Done);
    joined(sent).await.unwrap();
    other.settle().await;
    assert_eq!(other.logged("a").await, ["on"]);
    assert_eq!(other.gate.calls(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_long_job_is_not_handed_to_another() {
    if !time_is_ours() {
        return;
    }
    let gate = Gate::new();
    let inside = gate.clone();
    let world = World::with(|builder| builder.job("long", move |_| inside.clone().pass())).await;
    let other = world.node(|builder| builder);
    world.publish(workflow("w").root(job("work", "long"))).await;
    soon(world.runtime().start()).await.unwrap();
    let mut events = world.runtime().events();
    world.start("a", of("w")).await;
    gate.called(1).await;
    pass(&world.clock, MINUTES).await;
    assert_eq!(other.settle().await, 0);
    gate.open();
    reaches(
        &*world.store,
        &mut events,
        &instance("a"),
        SubStatus::Finished,
    )
    .await;
    assert_eq!(gate.calls(), 1);
    soon(world.runtime().drain()).await;
}

#[tokio::test(start_paused = true)]
async fn the_hold_of_a_node_that_gave_up_its_bursts_ends() {
    if !time_is_ours() {
        return;
    }
    let mut options = Options::default();
    options.drain = Duration::from_secs(1);
    let world = World::with(|builder| builder.options(options)).await;
    let other = world.node(|builder| builder);
    let steps = [event("go", "Go"), call("stay", "gate"), log("on", "on")];
    world
        .publish(workflow("w").root(sequence("all", steps)))
        .await;
    world.start("a", of("w")).await;
    soon(world.runtime().start()).await.unwrap();
    let sender = world.runtime().sender();
    let sent = tokio::spawn(async move { sender.event("Go", json!({})).await });
    world.gate.called(1).await;
    assert_eq!(soon(world.runtime().drain()).await, Drained::TimedOut);
    other.gate.open();
    pass(&world.clock, MINUTES).await;
    other.settle().await;
    assert_eq!(other.logged("a").await, ["on"]);
    world.gate.open();
    joined(sent).await.unwrap();
    assert_eq!(other.logged("a").await, ["on"]);
}

/// With the real clock: how often the store is asked while there is nothing that this node could do.
#[tokio::test]
async fn a_node_that_can_do_nothing_leaves_the_store_alone() {
    let shaky = Shaky::new([]).await;
    let runtime = RuntimeBuilder::new(shaky.clone()).build();
    let kind = ErrandKind::Run {
        instance: instance("a"),
        run: Run::default(),
    };
    let due = lockwork::runtime::SystemClock.now();
    let id = "due".to_owned();
    soon(shaky.add(vec![Errand { id, kind, due }]))
        .await
        .unwrap();
    runtime.pause();
    soon(runtime.start()).await.unwrap();
    tokio::time::sleep(Duration::from_millis(300)).await;
    let asked = shaky.asked();
    assert!(asked < 10, "the store was asked {asked} times in vain");
    soon(runtime.drain()).await;
}
