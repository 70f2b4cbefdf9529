//! Nodes that pause, and nodes that end.

use crate::support::{DAY, World, instance, joined, kind, of, reaches, soon, values};
use lockwork::flow::{Happened, build::*};
use lockwork::runtime::{Drained, ErrorKind, Options};
use lockwork::workflow::{CreateAndRun, Run, SubStatus};
use serde_json::json;
use std::time::Duration;

/// Notes `a`, waits at the gate, and notes `b`.
fn two_steps() -> Workflow {
    let steps = [
        call("a", "note").with("args", "a"),
        call("stay", "gate"),
        call("b", "note").with("args", "b"),
    ];
    workflow("w").root(sequence("all", steps))
}

async fn drain_while_running(world: &World) {
    let running = world.spawn_start("a", of("w"));
    world.gate.called(1).await;
    let runtime = world.runtime().clone();
    let draining = tokio::spawn(async move { runtime.drain().await });
    tokio::task::yield_now().await;
    world.gate.open();
    assert_eq!(joined(draining).await, Drained::Done);
    let _ = joined(running).await;
}

#[tokio::test]
async fn a_node_that_ends_stops_between_two_steps_and_another_goes_on_from_there() {
    let world = World::new().await;
    let other = world.node(|builder| builder);
    world.publish(two_steps()).await;
    drain_while_running(&world).await;
    assert_eq!(world.status("a").await, SubStatus::Interrupted);
    assert_eq!(
        other.settle().await,
        1,
        "at once, without waiting for anything"
    );
    assert_eq!(other.status("a").await, SubStatus::Finished);
    assert_eq!(other.notes.all(), [json!("a"), json!("b")]);
    assert_eq!(other.gate.calls(), 0, "what was done is not done again");
    let journal = soon(other.store.journal(&instance("a"), 0)).await.unwrap();
    let stopped = journal
        .iter()
        .filter(|one| one.happened == Happened::InstanceInterrupted);
    assert_eq!(stopped.count(), 1);
}

#[tokio::test]
async fn what_had_nothing_left_to_do_is_over_when_its_node_ends() {
    let world = World::new().await;
    world
        .publish(workflow("w").root(call("stay", "gate")))
        .await;
    drain_while_running(&world).await;
    assert_eq!(world.status("a").await, SubStatus::Finished);
}

#[tokio::test]
async fn what_only_waits_waits_when_its_node_ends() {
    let world = World::new().await;
    let other = world.node(|builder| builder);
    let root = parallel("both", [event("wait", "Go"), call("stay", "gate")]);
    world.publish(workflow("w").root(root)).await;
    drain_while_running(&world).await;
    assert_eq!(world.status("a").await, SubStatus::Suspended);
    other.event("Go", json!({})).await;
    assert_eq!(world.status("a").await, SubStatus::Finished);
}

#[tokio::test]
async fn an_event_that_was_being_delivered_when_its_node_ended_is_delivered_once() {
    let world = World::new().await;
    let other = world.node(|builder| builder);
    let root = sequence(
        "all",
        [event("wait", "Go"), call("stay", "gate"), call("b", "note")],
    );
    world.publish(workflow("w").root(root)).await;
    world.start("a", of("w")).await;
    let sender = world.runtime().sender();
    let sent = tokio::spawn(async move { sender.event("Go", json!({})).await });
    world.gate.called(1).await;
    let runtime = world.runtime().clone();
    let draining = tokio::spawn(async move { runtime.drain().await });
    tokio::task::yield_now().await;
    world.gate.open();
    joined(draining).await;
    joined(sent).await.unwrap();
    other.advance(DAY).await;
    assert_eq!(other.status("a").await, SubStatus::Finished);
    assert_eq!((other.notes.all().len(), other.gate.calls()), (1, 0));
}

#[tokio::test]
async fn a_node_that_ends_or_pauses_takes_no_work() {
    let world = World::new().await;
    let other = world.node(|builder| builder);
    world.publish(workflow("w").root(event("wait", "Go"))).await;
    world.start("a", of("w")).await;
    let at = world.bookmark("a").await;
    let (client, runtime) = (world.client("a"), world.runtime());
    runtime.pause();
    let requests = [
        kind(soon(client.run(Run::default())).await),
        kind(soon(world.client("b").create_and_run(CreateAndRun::new(of("w")))).await),
        kind(soon(runtime.sender().event("Go", json!({}))).await),
        kind(
            soon(
                runtime
                    .resumer()
                    .resume(&instance("a"), at, values(json!({}))),
            )
            .await,
        ),
    ];
    assert_eq!(requests, [ErrorKind::Stopping; 4]);
    assert!(!world.exists("b").await && world.waiting().await.is_empty());
    assert_eq!(other.event("Go", json!({})).await.resumed.len(), 1);
}

#[tokio::test]
async fn what_is_created_while_its_node_begins_to_pause_is_for_others_at_once() {
    let mut options = Options::default();
    options.bursts = 1;
    let world = World::with(|builder| builder.options(options)).await;
    let other = world.node(|builder| builder);
    world.publish(two_steps()).await;
    let first = world.spawn_start("a", of("w"));
    world.gate.called(1).await;
    // The second has been created, and waits until the first is done.
    let second = world.spawn_start("b", of("w"));
    tokio::task::yield_now().await;
    world.runtime().pause();
    world.gate.open();
    for started in [first, second] {
        assert_eq!(
            joined(started).await.unwrap().sub_status,
            SubStatus::Interrupted
        );
    }
    other.gate.open();
    other.settle().await;
    for id in ["a", "b"] {
        assert_eq!(other.status(id).await, SubStatus::Finished);
    }
}

#[tokio::test]
async fn pausing_and_resuming_twice_is_as_good_as_once() {
    let world = World::new().await;
    world.publish(workflow("w").root(log("l", "l"))).await;
    world.runtime().pause();
    world.runtime().pause();
    assert_eq!(world.settle().await, 0);
    world.runtime().resume();
    world.runtime().resume();
    assert_eq!(
        world.start("a", of("w")).await.sub_status,
        SubStatus::Finished
    );
}

#[tokio::test]
async fn a_burst_that_is_paused_goes_on_when_its_node_is_resumed() {
    let world = World::new().await;
    world.publish(two_steps()).await;
    let running = world.spawn_start("a", of("w"));
    world.gate.called(1).await;
    world.runtime().pause();
    world.gate.open();
    assert_eq!(
        joined(running).await.unwrap().sub_status,
        SubStatus::Interrupted
    );
    assert_eq!(world.settle().await, 0);
    world.runtime().resume();
    world.settle().await;
    assert_eq!(world.status("a").await, SubStatus::Finished);
    assert_eq!(world.notes.all(), [json!("a"), json!("b")]);
}

#[tokio::test]
async fn a_node_that_is_about_to_end_is_not_resumed() {
    let world = World::new().await;
    world.publish(workflow("w").root(log("l", "l"))).await;
    assert_eq!(soon(world.runtime().drain()).await, Drained::Done);
    world.runtime().resume();
    let refused = soon(world.client("a").create_and_run(CreateAndRun::new(of("w")))).await;
    assert_eq!(kind(refused), ErrorKind::Stopping);
    assert_eq!(
        soon(world.runtime().drain()).await,
        Drained::Done,
        "it ends once, however often it is told"
    );
}

#[tokio::test]
async fn a_burst_that_does_not_come_to_the_end_of_its_step_is_not_waited_for_for_ever() {
    let mut options = Options::default();
    options.drain = Duration::from_millis(20);
    let world = World::with(|builder| builder.options(options)).await;
    world.publish(two_steps()).await;
    let running = world.spawn_start("a", of("w"));
    world.gate.called(1).await;
    assert_eq!(soon(world.runtime().drain()).await, Drained::TimedOut);
    world.gate.open();
    let _ = joined(running).await;
    assert_eq!(
        world.status("a").await,
        SubStatus::Interrupted,
        "what it committed counts"
    );
}

#[tokio::test]
async fn what_is_cancelled_on_a_paused_node_ends() {
    let world = World::new().await;
    world.publish(workflow("w").root(event("wait", "Go"))).await;
    world.start("a", of("w")).await;
    world.runtime().pause();
    soon(world.client("a").cancel()).await.unwrap();
    assert_eq!(world.status("a").await, SubStatus::Cancelled);
}

/// On real workers: one node after the other ends under load, and the last finishes what all have begun.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_is_lost_and_nothing_done_twice_while_nodes_come_and_go() {
    const INSTANCES: usize = 60;
    let world = World::new().await;
    world.gate.open();
    let steps = (0..5).map(|at| call(format!("s{at}"), "note"));
    world
        .publish(workflow("w").root(sequence("all", steps)))
        .await;
    let mut events = Vec::new();
    for round in 0..6 {
        let node = world.node(|builder| builder.clock(lockwork::runtime::SystemClock));
        soon(node.runtime().start()).await.unwrap();
        let starts: Vec<_> = (0..INSTANCES / 6)
            .map(|at| node.spawn_start(&format!("a{round}-{at}"), of("w")))
            .collect();
        tokio::task::yield_now().await;
        assert_eq!(soon(node.runtime().drain()).await, Drained::Done);
        for start in starts {
            events.push(joined(start).await.is_ok());
        }
    }
    let last = world.node(|builder| builder.clock(lockwork::runtime::SystemClock));
    let mut heard = last.runtime().events();
    soon(last.runtime().start()).await.unwrap();
    let all = soon(
        world
            .store
            .list(lockwork::runtime::store::Filter::default()),
    )
    .await
    .unwrap();
    for one in &all {
        reaches(
            &*world.store,
            &mut heard,
            &one.state.instance,
            SubStatus::Finished,
        )
        .await;
    }
    assert_eq!(world.notes.all().len(), all.len() * 5);
    soon(last.runtime().drain()).await;
}
