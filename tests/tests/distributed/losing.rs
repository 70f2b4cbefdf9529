//! Locks that are lost while an instance runs.

use crate::{
    place::{Place, key},
    support::{World, joined, kind, of, soon},
};
use lockwork::{
    flow::{Commit, Registry, build::*},
    runtime::ErrorKind,
    workflow::{CreateAndRun, SubStatus, Value},
};
use serde_json::json;
use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

/// Notes `a`, waits at the gate, notes `b`.
fn steps(commit: Commit) -> Workflow {
    let steps = [
        call("a", "note").with("args", "a"),
        call("stay", "gate"),
        call("b", "note").with("args", "b"),
    ];
    workflow("w").commit(commit).root(sequence("all", steps))
}

#[tokio::test]
async fn a_lost_lock_ends_the_burst_and_nothing_more_of_it_is_committed() {
    let place = Place::new();
    let world = place.world().await;
    world.publish(steps(Commit::Burst)).await;
    let running = world.spawn_start("a", of("w"));
    world.gate.called(1).await;
    place.take_away(&key("a")).await;
    assert_eq!(kind(joined(running).await), ErrorKind::Fenced);
    world.gate.empty().await;
    assert_eq!(world.status("a").await, SubStatus::Pending, "as before");
    assert_eq!(
        world
            .store
            .journal(&crate::support::instance("a"), 0)
            .await
            .unwrap(),
        []
    );
}

#[tokio::test]
async fn a_node_that_was_frozen_takes_no_step_more_although_nobody_has_told_it() {
    let place = Place::new();
    let world = place.world().await;
    world.publish(steps(Commit::Burst)).await;
    let running = world.spawn_start("a", of("w"));
    world.gate.called(1).await;
    place.expire();
    world.gate.open();
    assert_eq!(kind(joined(running).await), ErrorKind::Fenced);
    assert_eq!(world.notes.all(), [json!("a")], "and not b");
    assert_eq!(world.status("a").await, SubStatus::Pending);
}

#[tokio::test]
async fn what_was_committed_before_the_lock_was_lost_stays_and_another_node_goes_on_at_once() {
    let place = Place::new();
    let world = place.world().await;
    let other = world.node(|builder| place.join(builder));
    world.publish(steps(Commit::Step)).await;
    let running = world.spawn_start("a", of("w"));
    world.gate.called(1).await;
    place.take_away(&key("a")).await;
    assert_eq!(kind(joined(running).await), ErrorKind::Fenced);
    assert_eq!(world.status("a").await, SubStatus::Executing);
    other.gate.open();
    assert_eq!(other.settle().await, 1, "no time has passed");
    assert_eq!(other.status("a").await, SubStatus::Finished);
    assert_eq!(world.notes.all(), [json!("a"), json!("b")], "each once");
}

#[tokio::test]
async fn an_event_whose_burst_lost_its_lock_is_delivered_once_by_another_node() {
    let place = Place::new();
    let world = place.world().await;
    let other = world.node(|builder| place.join(builder));
    let root = sequence("all", [event("wait", "Go"), call("stay", "gate")]);
    world.publish(workflow("w").root(root)).await;
    world.start("a", of("w")).await;
    let sender = world.runtime().sender();
    let sending = tokio::spawn(async move { sender.event("Go", json!({})).await });
    world.gate.called(1).await;
    place.take_away(&key("a")).await;
    let reached = joined(sending).await.unwrap();
    assert_eq!(reached.later, 1);
    other.gate.open();
    assert_eq!(other.settle().await, 1, "no time has passed");
    assert_eq!(other.status("a").await, SubStatus::Finished);
    assert_eq!(other.waiting().await, []);
}

#[tokio::test]
async fn a_burst_that_lost_its_instance_to_another_claim_commits_nothing() {
    let place = Place::new();
    let world = place.world().await;
    let elsewhere = Place::new();
    let other = world.node(|builder| elsewhere.join(builder));
    world.publish(steps(Commit::Burst)).await;
    let running = world.spawn_start("a", of("w"));
    world.gate.called(1).await;
    other.gate.open();
    let ran = soon(other.client("a").run(lockwork::workflow::Run::default())).await;
    assert_eq!(ran.unwrap().sub_status, SubStatus::Finished);
    world.gate.open();
    assert_eq!(kind(joined(running).await), ErrorKind::Fenced);
    let entries = world.store.journal(&crate::support::instance("a"), 0).await;
    let entries = entries.unwrap();
    let numbers: Vec<_> = entries.iter().map(|entry| entry.sequence).collect();
    assert_eq!(
        numbers,
        (0..entries.len() as u64).collect::<Vec<_>>(),
        "one burst's"
    );
}

#[tokio::test]
async fn an_activity_has_the_token_of_its_lock_and_it_rises() {
    let place = Place::new();
    let fences = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&fences);
    let registry = Registry::standard().code("fence", move |call| {
        seen.lock().unwrap().push(call.fence);
        std::future::ready(Ok(Value::Null))
    });
    let world = World::with(|builder| place.join(builder).registry(registry)).await;
    let root = sequence(
        "all",
        [
            call("one", "fence"),
            event("wait", "Go"),
            call("two", "fence"),
        ],
    );
    world.publish(workflow("w").root(root)).await;
    let request = CreateAndRun::new(of("w"));
    soon(world.client("a").create_and_run(request))
        .await
        .unwrap();
    world.event("Go", json!({})).await;
    let fences = fences.lock().unwrap().clone();
    assert!(fences[0].is_some() && fences[0] < fences[1], "{fences:?}");
    assert!(
        fences[0] >= Some(1 << 16),
        "of the lock, not of the store: {fences:?}"
    );
}

#[tokio::test]
async fn what_a_node_that_died_had_in_hand_is_for_others_after_six_seconds() {
    let place = Place::new();
    let world = place.world().await;
    let other = world.node(|builder| place.join(builder));
    world.publish(steps(Commit::Burst)).await;
    let running = world.spawn_start("a", of("w"));
    world.gate.called(1).await;
    running.abort();
    // As if its process had ended: nobody renews, and its lock is gone.
    place.take_away(&key("a")).await;
    world.gate.empty().await;
    other.gate.open();
    other.advance(Duration::from_millis(6_001)).await;
    assert_eq!(other.status("a").await, SubStatus::Finished);
}
