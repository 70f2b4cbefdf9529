//! Ending instances from outside.

use crate::shaky::{Shaky, Trouble};
use crate::support::{DAY, Gate, SECOND, World, instance, joined, of, reaches, soon};
use lockwork::flow::{Commit, build::*};
use lockwork::runtime::{Clock, store::ErrandKind};
use lockwork::workflow::{Cancelled, Run, SubStatus};
use serde_json::json;

async fn cancel(world: &World, id: &str) -> Cancelled {
    soon(world.client(id).cancel()).await.unwrap()
}

#[tokio::test]
async fn what_waits_is_cancelled_at_once_and_no_event_reaches_it() {
    let world = World::new().await;
    let root = sequence("all", [event("wait", "Go"), call("on", "note")]);
    world.publish(workflow("w").root(root)).await;
    world.start("a", of("w")).await;
    assert_eq!(cancel(&world, "a").await, Cancelled::Done);
    assert_eq!(world.status("a").await, SubStatus::Cancelled);
    assert!(world.state("a").await.bookmarks.is_empty());
    let reached = world.event("Go", json!({})).await;
    assert!(reached.queued && reached.resumed.is_empty());
    assert!(world.notes.all().is_empty());
}

#[tokio::test]
async fn what_was_created_and_never_run_is_cancelled() {
    let world = World::new().await;
    world.publish(workflow("w").root(call("on", "note"))).await;
    soon(world.client("a").create(of("w"))).await.unwrap();
    assert_eq!(cancel(&world, "a").await, Cancelled::Done);
    assert_eq!(world.status("a").await, SubStatus::Cancelled);
}

#[tokio::test]
async fn what_runs_is_cancelled_at_its_next_step() {
    let world = World::new().await;
    let root = sequence("all", [call("wait", "gate"), call("on", "note")]);
    world.publish(workflow("w").root(root)).await;
    let running = world.spawn_start("a", of("w"));
    world.gate.called(1).await;
    assert_eq!(cancel(&world, "a").await, Cancelled::Requested);
    world.gate.open();
    assert_eq!(
        joined(running).await.unwrap().sub_status,
        SubStatus::Cancelled
    );
    assert!(world.notes.all().is_empty());
}

/// Its burst has no errand of its own: if this node died now, nobody would come back to the instance.
#[tokio::test]
async fn an_end_that_was_promised_is_written_down_for_others() {
    let world = World::new().await;
    let root = sequence("all", [call("wait", "gate"), call("on", "note")]);
    world.publish(workflow("w").root(root)).await;
    soon(world.client("a").create(of("w"))).await.unwrap();
    let client = world.client("a");
    let running = tokio::spawn(async move { client.run(Run::default()).await });
    world.gate.called(1).await;
    assert_eq!(cancel(&world, "a").await, Cancelled::Requested);
    let later = world.clock.now().after(SECOND * 2);
    let errands = soon(world.store.take(later, later, 9)).await.unwrap();
    let kinds: Vec<_> = errands.into_iter().map(|held| held.errand.kind).collect();
    assert_eq!(kinds, [ErrandKind::Cancel(instance("a"))]);
    world.gate.open();
    let ran = joined(running).await.unwrap();
    assert_eq!(ran.sub_status, SubStatus::Cancelled);
    world.advance(SECOND * 2).await;
    assert_eq!(soon(world.store.next_due()).await.unwrap(), None);
}

/// The rest of a burst that another node left half way comes first, and takes no wish to end for what follows it.
#[tokio::test]
async fn what_follows_the_rest_of_another_burst_is_cancelled_at_its_next_step() {
    let world = World::new().await;
    let left = sequence("left", [call("wait", "gate"), call("rest", "note")]);
    let asked = sequence(
        "asked",
        [
            event("go", "Go"),
            call("stop", "gate"),
            call("after", "note"),
        ],
    );
    world
        .publish(workflow("w").root(parallel("all", [asked, left])))
        .await;
    let running = world.spawn_start("a", of("w"));
    world.gate.called(1).await;
    world.runtime().pause();
    world.gate.open();
    let ran = joined(running).await.unwrap();
    assert_eq!(ran.sub_status, SubStatus::Interrupted);
    let other = world.node(|builder| builder);
    let sender = other.runtime().sender();
    let telling = tokio::spawn(async move { sender.event("Go", json!({})).await });
    other.gate.called(1).await;
    assert_eq!(cancel(&other, "a").await, Cancelled::Requested);
    other.gate.open();
    let reached = joined(telling).await.unwrap();
    assert_eq!(reached.resumed[0].sub_status, SubStatus::Cancelled);
    assert_eq!(world.notes.all().len(), 1, "nothing after the rest");
}

#[tokio::test]
async fn what_is_cancelled_in_its_last_step_does_not_stay_waiting() {
    let world = World::new().await;
    let root = parallel("all", [event("wait", "Go"), call("last", "gate")]);
    world.publish(workflow("w").root(root)).await;
    let running = world.spawn_start("a", of("w"));
    world.gate.called(1).await;
    assert_eq!(cancel(&world, "a").await, Cancelled::Requested);
    world.gate.open();
    assert_eq!(
        joined(running).await.unwrap().sub_status,
        SubStatus::Cancelled
    );
    assert_eq!(world.status("a").await, SubStatus::Cancelled);
}

#[tokio::test]
async fn what_is_cancelled_while_its_last_commit_is_under_way_does_not_stay_waiting() {
    let gate = Gate::new();
    let store = Shaky::new([Trouble::Stalls(gate.clone())]).await;
    let world = World::on(store, |builder| builder);
    world.publish(workflow("w").root(event("wait", "Go"))).await;
    let running = world.spawn_start("a", of("w"));
    gate.called(1).await;
    assert_eq!(cancel(&world, "a").await, Cancelled::Requested);
    gate.open();
    let ran = joined(running).await.unwrap();
    assert_eq!(ran.sub_status, SubStatus::Cancelled);
    assert_eq!(world.status("a").await, SubStatus::Cancelled);
}

#[tokio::test]
async fn what_runs_elsewhere_is_cancelled_too() {
    let world = World::new().await;
    let other = world.node(|builder| builder);
    let root = sequence("all", [call("wait", "gate"), log("on", "on")]);
    world.publish(workflow("w").root(root)).await;
    let running = other.spawn_start("a", of("w"));
    other.gate.called(1).await;
    cancel(&world, "a").await;
    other.gate.open();
    let _ = joined(running).await;
    world.advance(DAY).await;
    assert_eq!(world.status("a").await, SubStatus::Cancelled);
    assert!(world.logged("a").await.is_empty());
}

#[tokio::test]
async fn what_is_over_stays_as_it_is() {
    let world = World::new().await;
    world
        .publish(workflow("w").root(log("hello", "hello")))
        .await;
    world.start("a", of("w")).await;
    assert_eq!(cancel(&world, "a").await, Cancelled::Over);
    assert_eq!(world.status("a").await, SubStatus::Finished);
}

#[tokio::test]
async fn a_child_that_is_waited_for_ends_with_its_parent_and_others_go_on() {
    let world = World::new().await;
    world
        .publish(workflow("child").root(event("wait", "Go")))
        .await;
    let children = [
        dispatch("waited", "child")
            .with("wait", true)
            .with("correlation", "waited"),
        dispatch("free", "child").with("correlation", "free"),
        event("stay", "Never"),
    ];
    world
        .publish(workflow("parent").root(parallel("all", children)))
        .await;
    world.start("p", of("parent")).await;
    world.settle().await;
    assert_eq!(cancel(&world, "p").await, Cancelled::Done);
    world.settle().await;
    assert_eq!(by_correlation(&world, "waited").await, SubStatus::Cancelled);
    assert_eq!(by_correlation(&world, "free").await, SubStatus::Suspended);
}

async fn by_correlation(world: &World, correlation: &str) -> SubStatus {
    let filter = lockwork::runtime::store::Filter {
        correlation: Some(correlation.to_owned()),
        ..Default::default()
    };
    let found = soon(world.store.list(filter)).await.unwrap();
    assert_eq!(found.len(), 1);
    found[0].state.sub_status
}

#[tokio::test]
async fn a_child_that_was_not_started_yet_ends_before_it_begins_when_its_parent_is_cancelled() {
    let world = World::new().await;
    world
        .publish(workflow("child").root(call("on", "note")))
        .await;
    let waits = dispatch("waited", "child").with("wait", true);
    world.publish(workflow("parent").root(waits)).await;
    world.start("p", of("parent")).await;
    // Somebody was handed the child's start, and is never heard of again.
    let now = world.clock.now();
    let taken = soon(world.store.take(now, now.after(SECOND), 1)).await;
    assert_eq!(taken.unwrap().len(), 1);
    assert_eq!(cancel(&world, "p").await, Cancelled::Done);
    world.settle().await;
    world.advance(SECOND).await;
    assert_eq!(world.status("p.2").await, SubStatus::Cancelled);
    assert!(world.notes.all().is_empty());
}

#[tokio::test]
async fn a_fork_that_is_decided_ends_the_child_of_the_other_branch() {
    let world = World::new().await;
    world
        .publish(workflow("child").root(event("wait", "Go")))
        .await;
    let branches = [
        dispatch("child", "child").with("wait", true),
        event("other", "Other"),
    ];
    world
        .publish(workflow("parent").root(race("first", branches)))
        .await;
    world.start("p", of("parent")).await;
    world.settle().await;
    world.event("Other", json!({})).await;
    world.settle().await;
    assert_eq!(world.status("p").await, SubStatus::Finished);
    let all = soon(
        world
            .store
            .list(lockwork::runtime::store::Filter::default()),
    )
    .await
    .unwrap();
    let over = all
        .iter()
        .filter(|one| one.state.sub_status == SubStatus::Cancelled);
    assert_eq!(over.count(), 1);
}

#[tokio::test]
async fn a_step_after_which_somebody_has_asked_for_the_end_is_the_last() {
    let world = World::new().await;
    let root = sequence("all", [call("wait", "gate"), call("on", "note")]);
    world
        .publish(workflow("w").commit(Commit::Step).root(root))
        .await;
    let running = world.spawn_start("a", of("w"));
    world.gate.called(1).await;
    soon(world.store.request_cancel(&instance("a")))
        .await
        .unwrap();
    world.gate.open();
    assert_eq!(
        joined(running).await.unwrap().sub_status,
        SubStatus::Cancelled
    );
    assert!(world.notes.all().is_empty());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whenever_somebody_asks_for_the_end_it_comes() {
    let world = World::new().await;
    let body = sequence("body", [event("wait", "Go"), log("on", "on")]);
    world
        .publish(workflow("w").root(while_("for-ever", true, body)))
        .await;
    let mut events = world.runtime().events();
    for turn in 0..200 {
        let id = format!("a{turn}");
        world.start(&id, of("w")).await;
        let (sender, client) = (world.runtime().sender(), world.client(&id));
        let burst = tokio::spawn(async move { sender.event("Go", json!({})).await });
        let asked = tokio::spawn(async move { client.cancel().await });
        joined(asked).await.unwrap();
        joined(burst).await.unwrap();
        reaches(
            &*world.store,
            &mut events,
            &instance(&id),
            SubStatus::Cancelled,
        )
        .await;
    }
}
