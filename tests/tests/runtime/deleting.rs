//! Deleting instances, and everything that belongs to them.

use crate::support::{DAY, SECOND, World, event_called, instance, joined, kind, of, soon};
use lockwork::flow::build::*;
use lockwork::runtime::{
    ErrorKind, Options,
    store::{Errand, ErrandKind},
};
use lockwork::workflow::{Addressee, Run};
use serde_json::json;

async fn delete(world: &World, id: &str) -> bool {
    soon(world.client(id).delete()).await.unwrap()
}

#[tokio::test]
async fn what_waits_can_be_deleted_and_a_later_event_finds_nobody() {
    let world = World::new().await;
    world.publish(workflow("w").root(event("wait", "Go"))).await;
    world.start("a", of("w")).await;
    assert!(delete(&world, "a").await);
    assert!(!world.exists("a").await);
    let reached = world.event("Go", json!({})).await;
    assert!(reached.queued && reached.resumed.is_empty());
}

#[tokio::test]
async fn what_is_over_can_be_deleted() {
    let world = World::new().await;
    world
        .publish(workflow("w").root(log("hello", "hello")))
        .await;
    world.start("a", of("w")).await;
    assert!(delete(&world, "a").await);
    assert!(!world.exists("a").await);
}

#[tokio::test]
async fn what_was_never_there_is_not_deleted() {
    assert!(!delete(&World::new().await, "a").await);
}

#[tokio::test]
async fn what_is_deleted_while_it_runs_here_stays_gone() {
    let world = World::new().await;
    let root = sequence("all", [call("wait", "gate"), call("on", "note")]);
    world.publish(workflow("w").root(root)).await;
    let running = world.spawn_start("a", of("w"));
    world.gate.called(1).await;
    let client = world.client("a");
    let deleting = tokio::spawn(async move { client.delete().await });
    tokio::task::yield_now().await;
    world.gate.open();
    assert!(joined(deleting).await.unwrap());
    let _ = joined(running).await;
    world.advance(DAY).await;
    assert!(!world.exists("a").await);
    assert!(world.notes.all().is_empty());
}

#[tokio::test]
async fn what_is_deleted_while_it_runs_elsewhere_stays_gone() {
    let (world, root) = (World::new().await, call("wait", "gate"));
    let other = world.node(|builder| builder);
    world.publish(workflow("w").root(root)).await;
    let running = other.spawn_start("a", of("w"));
    other.gate.called(1).await;
    assert!(delete(&world, "a").await);
    other.gate.open();
    assert_eq!(kind(joined(running).await), ErrorKind::NotFound);
    world.advance(DAY).await;
    assert!(!world.exists("a").await);
}

#[tokio::test]
async fn everything_that_belongs_to_an_instance_goes_with_it() {
    let world = World::new().await;
    let waits = [
        event("event", "Go"),
        run_task("task", "pack"),
        job("job", "long"),
        delay("delay", "1h"),
        publish_event("tell", "Local").with("local", true),
    ];
    world
        .publish(workflow("w").root(parallel("all", waits)))
        .await;
    let id = instance("a");
    world.start("a", of("w")).await;
    let mut to = Addressee::default();
    to.instance = Some(id.clone());
    world.send(event_called("Early").to(to)).await;
    assert_eq!(world.waiting().await.len(), 1);

    assert!(delete(&world, "a").await);
    assert!(soon(world.store.tasks()).await.unwrap().is_empty());
    assert!(soon(world.store.journal(&id, 0)).await.unwrap().is_empty());
    assert!(world.waiting().await.is_empty());
    let now = lockwork::runtime::Clock::now(&world.clock);
    assert!(
        soon(world.store.take_jobs(now, now, 9))
            .await
            .unwrap()
            .is_empty()
    );
    // The event that it made is for an instance that is no more: it is told to nobody.
    world.advance(DAY).await;
    assert_eq!(world.count().await, 0);
    assert_eq!(soon(world.store.next_due()).await.unwrap(), None);
}

#[tokio::test]
async fn an_id_that_was_deleted_can_be_given_again_with_its_key_and_place() {
    let world = World::new().await;
    let one = workflow("w").activation(lockwork::flow::Activation::Single);
    world.publish(one.root(event("wait", "Go"))).await;
    world.start("a", of("w").key("k")).await;
    assert!(delete(&world, "a").await);
    let again = world.start("a", of("w").key("k")).await;
    assert_eq!(again.bookmarks.len(), 1);
}

#[tokio::test]
async fn an_instance_that_is_created_again_publishes_its_events_again() {
    let world = World::new().await;
    world
        .publish(workflow("listens").root(event("wait", "Said")))
        .await;
    world
        .publish(workflow("says").root(publish_event("say", "Said")))
        .await;
    for (listener, reached) in [("one", 1), ("two", 2)] {
        world.start(listener, of("listens")).await;
        world.start("says", of("says")).await;
        world.settle().await;
        let over = lockwork::workflow::SubStatus::Finished;
        assert_eq!(world.status(listener).await, over, "event number {reached}");
        assert!(delete(&world, "says").await);
    }
}

#[tokio::test]
async fn what_has_to_be_done_with_an_instance_is_forgotten_with_it() {
    let world = World::new().await;
    world
        .publish(workflow("w").root(parallel("both", [event("go", "Go"), call("stay", "gate")])))
        .await;
    let running = world.spawn_start("a", of("w"));
    world.gate.called(1).await;
    // What was to be done is left, because its node was paused on the way.
    world.runtime().pause();
    world.gate.open();
    joined(running).await.unwrap();
    let now = lockwork::runtime::Clock::now(&world.clock);
    let kind = ErrandKind::Run {
        instance: instance("a"),
        run: Run::default(),
    };
    let id = "more".to_owned();
    soon(world.store.add(vec![Errand { id, kind, due: now }]))
        .await
        .unwrap();
    assert!(delete(&world, "a").await);
    assert_eq!(soon(world.store.next_due()).await.unwrap(), None);
}

#[tokio::test]
async fn instances_that_are_over_are_kept_for_as_long_as_is_said() {
    let mut options = Options::default();
    options.finished_kept = Some(DAY);
    let world = World::with(|builder| builder.options(options)).await;
    let waits = workflow("waits").root(event("wait", "Go"));
    world.publish(waits).await;
    world
        .publish(workflow("ends").root(call("on", "note")))
        .await;
    for number in 0..300 {
        world.start(&format!("over-{number}"), of("ends")).await;
    }
    world.start("waiting", of("waits")).await;
    let purger = world.runtime().purger();
    assert_eq!(soon(purger.forget()).await.unwrap(), 0);
    world.advance(DAY / 2).await;
    world.start("young", of("ends")).await;
    world.advance(DAY / 2 + SECOND).await;
    assert_eq!(soon(purger.forget()).await.unwrap(), 300);
    assert!(!world.exists("over-0").await);
    assert!(world.exists("young").await && world.exists("waiting").await);
}

#[tokio::test]
async fn nothing_is_forgotten_unless_that_is_said() {
    let world = World::new().await;
    world.publish(workflow("w").root(call("on", "note"))).await;
    world.start("a", of("w")).await;
    world.advance(DAY * 1000).await;
    assert_eq!(soon(world.runtime().purger().forget()).await.unwrap(), 0);
    assert!(world.exists("a").await);
}
