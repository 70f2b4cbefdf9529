//! Waiting for a time, and starting instances when it comes.

use crate::support::{DAY, SECOND, World, fresh_store, instance, of, reaches, soon};
use lockwork::flow::build::*;
use lockwork::runtime::{Clock, RuntimeBuilder};
use lockwork::workflow::{CreateAndRun, Runtime, SubStatus};
use lockwork_conformance::generous;
use serde_json::json;
use std::time::{Duration, Instant};

const HOUR: Duration = Duration::from_secs(3600);

/// Runs `wait` and says so afterwards; it should take `exactly` so long.
async fn takes(wait: Draft, exactly: Duration) {
    let world = World::new().await;
    world
        .publish(workflow("w").root(sequence("all", [wait, log("on", "on")])))
        .await;
    world.start("a", of("w")).await;
    world.advance(exactly - Duration::from_millis(1)).await;
    assert!(world.logged("a").await.is_empty());
    world.advance(Duration::from_millis(1)).await;
    assert_eq!(world.logged("a").await, ["on"]);
    assert_eq!(world.status("a").await, SubStatus::Finished);
}

#[tokio::test]
async fn a_delay_takes_as_long_as_it_says() {
    takes(delay("wait", "90s"), SECOND * 90).await;
}

#[tokio::test]
async fn a_timer_in_a_flow_waits_once() {
    takes(timer("wait", "1h"), HOUR).await;
}

#[tokio::test]
async fn a_moment_comes_when_it_comes() {
    takes(start_at("wait", "2026-01-02T00:00:00Z"), DAY).await;
}

#[tokio::test]
async fn a_clock_that_shows_something_is_waited_for() {
    takes(cron("wait", "30 4 * * *"), HOUR * 4 + HOUR / 2).await;
}

#[tokio::test]
async fn a_moment_that_has_passed_is_not_waited_for() {
    let world = World::new().await;
    world
        .publish(workflow("w").root(start_at("wait", "2025-01-02T00:00:00Z")))
        .await;
    assert_eq!(
        world.start("a", of("w")).await.sub_status,
        SubStatus::Finished
    );
}

#[tokio::test]
async fn a_daily_clock_starts_365_instances_in_a_year() {
    let world = World::new().await;
    world
        .publish(workflow("w").root(cron("daily", "0 6 * * *").starts()))
        .await;
    let began = Instant::now();
    world.advance(DAY * 365).await;
    assert_eq!(world.count().await, 365);
    assert!(
        began.elapsed() < Duration::from_secs(30),
        "too late: {:?}",
        began.elapsed()
    );
}

#[tokio::test]
async fn a_timer_starts_an_instance_each_time_it_has_passed() {
    let world = World::new().await;
    world
        .publish(workflow("w").root(timer("tick", "10m").starts()))
        .await;
    world.advance(HOUR).await;
    assert_eq!(world.count().await, 6);
}

#[tokio::test]
async fn a_moment_starts_one_instance() {
    let world = World::new().await;
    let at = workflow("w").root(start_at("opening", "2026-01-02T00:00:00Z").starts());
    world.publish(at.clone()).await;
    world.advance(DAY * 3).await;
    assert_eq!(world.count().await, 1);
    soon(
        world
            .runtime()
            .definitions()
            .retract(&crate::support::definition("w")),
    )
    .await
    .unwrap();
    world.publish(at).await;
    world.advance(DAY).await;
    assert_eq!(world.count().await, 1, "it has come once, for good");
}

#[tokio::test]
async fn a_year_that_was_slept_through_is_not_made_up_for() {
    let world = World::new().await;
    world
        .publish(workflow("w").root(cron("daily", "0 6 * * *").starts()))
        .await;
    world
        .publish(workflow("v").root(timer("tick", "10m").starts()))
        .await;
    world.clock.advance(DAY * 365);
    world.settle().await;
    assert_eq!(world.count().await, 2);
    world.advance(DAY).await;
    assert_eq!(world.count().await, 2 + 1 + 24 * 6);
}

#[tokio::test]
async fn of_a_time_and_an_event_the_first_ends_the_other() {
    let world = World::new().await;
    let answer = race(
        "answer",
        [
            sequence("yes", [event("wait", "Go"), log("event", "event")]),
            sequence("no", [delay("patience", "1h"), log("late", "late")]),
        ],
    );
    world.publish(workflow("w").root(answer)).await;
    world.start("a", of("w")).await;
    world.start("b", of("w").correlation("b")).await;
    let mut to = lockwork::workflow::Addressee::default();
    to.correlation = Some("b".into());
    world.send(crate::support::event_called("Go").to(to)).await;
    world.advance(DAY).await;
    assert_eq!(world.logged("a").await, ["late"]);
    assert_eq!(world.logged("b").await, ["event"]);
    assert!(world.event("Go", json!({})).await.queued);
    assert_eq!(
        soon(world.store.next_due()).await.unwrap(),
        None,
        "no timer is left"
    );
}

#[tokio::test]
async fn a_time_and_an_event_that_come_at_once_resume_once() {
    let world = World::new().await;
    let answer = race("answer", [event("wait", "Go"), delay("patience", "1h")]);
    world
        .publish(workflow("w").root(sequence("all", [answer, log("on", "on")])))
        .await;
    world.start("a", of("w")).await;
    world.clock.advance(HOUR);
    let sender = world.runtime().sender();
    let both = async { tokio::join!(world.driver.settle(), sender.event("Go", json!({}))) };
    let (settled, sent) = soon(both).await;
    settled.and(sent.map(|_| 0)).unwrap();
    world.settle().await;
    assert_eq!(world.logged("a").await, ["on"]);
}

#[tokio::test]
async fn two_nodes_that_share_a_store_start_one_instance_each_time() {
    let world = World::new().await;
    let other = world.node(|builder| builder);
    world
        .publish(workflow("w").root(cron("hourly", "0 * * * *").starts()))
        .await;
    for _ in 0..24 {
        world.clock.advance(HOUR);
        let (here, there) = (world.spawn_settle(), other.spawn_settle());
        crate::support::joined(here).await;
        crate::support::joined(there).await;
    }
    assert_eq!(world.count().await, 24);
}

#[tokio::test]
async fn a_schedule_deep_inside_of_a_large_workflow_starts_instances_too() {
    let world = World::new().await;
    let long = "a-very-long-name-of-an-activity-that-somebody-has-thought-about-for-a-while";
    let deep = (0..5).fold(timer("tick", "1h").starts(), |inside, at| {
        sequence(format!("{long}-{at}"), [inside])
    });
    world.publish(workflow("w").root(deep)).await;
    world.advance(HOUR).await;
    assert_eq!(world.count().await, 1);
}

/// With the real clock and real workers.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_started_runtime_resumes_what_waited_for_a_moment() {
    let (store, _place) = fresh_store().await;
    let runtime = RuntimeBuilder::new(store).build();
    soon(runtime.start()).await.unwrap();
    let built = workflow("w").root(delay("wait", "50ms")).build().unwrap();
    soon(runtime.definitions().publish(built)).await.unwrap();
    let mut events = runtime.events();
    let began = Instant::now();
    let client = runtime.client(Some(instance("a")));
    soon(client.create_and_run(CreateAndRun::new(of("w"))))
        .await
        .unwrap();
    reaches(
        &**runtime.store(),
        &mut events,
        &instance("a"),
        SubStatus::Finished,
    )
    .await;
    let took = began.elapsed();
    assert!(took >= Duration::from_millis(50), "{took:?}");
    assert!(
        took < generous(Duration::from_millis(900)),
        "too late: {took:?}: nobody looked when it was time"
    );
    soon(runtime.drain()).await;
    assert!(lockwork::runtime::SystemClock.now() > lockwork::workflow::Time::default());
}
