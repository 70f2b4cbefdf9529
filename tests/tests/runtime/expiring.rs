//! What has waited too long, and what was put aside.

use crate::{
    stimuli::{listener, to},
    support::{World, event_called, instance, joined, kind, of, soon},
};
use lockwork::flow::build::*;
use lockwork::runtime::{ErrorKind, store::Reason};
use lockwork::workflow::SubStatus;
use serde_json::json;
use std::time::Duration;

const EXPIRED: Duration = Duration::from_secs(601);

#[tokio::test]
async fn an_event_for_which_nobody_waits_becomes_a_dead_letter_and_is_sent_once_more() {
    let world = World::new().await;
    world.publish(listener("w", "Go", 1)).await;
    world.event("Go", json!(9)).await;
    world.clock.advance(EXPIRED);
    assert_eq!(soon(world.runtime().purger().purge()).await.unwrap(), 1);
    assert!(world.waiting().await.is_empty());
    world.start("a", of("w")).await;
    let letters = world.runtime().dead_letters();
    let all = soon(letters.list()).await.unwrap();
    assert_eq!((all.len(), &all[0].reason), (1, &Reason::Expired));
    soon(letters.replay(&all[0].id)).await.unwrap();
    world.settle().await;
    assert_eq!(world.state("a").await.variables["sum"], json!(9));
    assert_eq!(
        kind(soon(letters.replay(&all[0].id)).await),
        ErrorKind::Conflict
    );
    assert_eq!(
        kind(soon(letters.replay("nothing")).await),
        ErrorKind::Conflict
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_several_who_send_a_dead_letter_once_more_one_does() {
    let world = World::new().await;
    world.event("Go", json!(1)).await;
    world.clock.advance(EXPIRED);
    soon(world.runtime().purger().purge()).await.unwrap();
    let id = soon(world.runtime().dead_letters().list()).await.unwrap()[0]
        .id
        .clone();
    let tries = (0..8).map(|_| {
        let (letters, id) = (world.runtime().dead_letters(), id.clone());
        tokio::spawn(async move { letters.replay(&id).await.is_ok() })
    });
    let mut won = 0;
    for attempt in tries.collect::<Vec<_>>() {
        won += usize::from(joined(attempt).await);
    }
    assert_eq!((won, world.waiting().await.len()), (1, 1));
}

#[tokio::test]
async fn dead_letters_are_forgotten_after_a_week() {
    let world = World::new().await;
    world.event("Go", json!(1)).await;
    world.clock.advance(EXPIRED);
    soon(world.runtime().purger().purge()).await.unwrap();
    world.clock.advance(Duration::from_secs(8 * 86_400));
    assert_eq!(soon(world.runtime().purger().purge()).await.unwrap(), 0);
    assert!(
        soon(world.runtime().dead_letters().list())
            .await
            .unwrap()
            .is_empty()
    );
}

#[tokio::test]
async fn what_is_for_somebody_certain_waits_as_long_as_that_may_come() {
    let world = World::new().await;
    world
        .publish(workflow("w").root(sequence("all", [event("one", "One"), event("two", "Two")])))
        .await;
    world.start("a", of("w")).await;
    let certain = to(|to| to.instance = Some(instance("a")));
    assert!(
        world
            .send(event_called("Two").to(certain.clone()))
            .await
            .queued
    );
    assert!(
        world
            .send(event_called("Never").to(certain.clone()))
            .await
            .queued
    );
    world.clock.advance(EXPIRED * 1000);
    assert_eq!(soon(world.runtime().purger().purge()).await.unwrap(), 0);
    world.event("One", json!({})).await;
    world.settle().await;
    assert_eq!(world.status("a").await, SubStatus::Finished);
    assert!(
        world.waiting().await.is_empty(),
        "nobody will ever wait for the rest"
    );
    assert!(!world.send(event_called("Two").to(certain)).await.queued);
}
