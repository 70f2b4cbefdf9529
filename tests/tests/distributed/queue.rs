//! Who looks for errands.

use crate::{
    place::{Place, until},
    support::{World, of},
    told::Told,
};
use lockwork::{flow::build::*, runtime::Options, workflow::SubStatus};
use std::time::Duration;

const KEY: &str = "DistributedBookmarkQueueWorker";

/// A world with a timer that is due, and whose node divides errands into so many parts.
async fn with_timer(place: &Place, parts: u32) -> World {
    let cluster = place.cluster(|options| options.parts = parts);
    let world = World::with(|builder| builder.cluster(cluster)).await;
    world.publish(workflow("w").root(delay("nap", "1s"))).await;
    world.start("a", of("w")).await;
    world.clock.advance(Duration::from_secs(1));
    place.asked();
    world
}

#[tokio::test]
async fn one_part_is_looked_through_under_one_lock_that_nobody_waits_for() {
    let place = Place::new();
    let world = with_timer(&place, 1).await;
    world.settle().await;
    assert_eq!(world.status("a").await, SubStatus::Finished);
    assert_eq!(place.asked()[0], (KEY.to_owned(), false));
}

#[tokio::test]
async fn each_of_several_parts_has_a_lock_of_its_own() {
    let place = Place::new();
    let world = with_timer(&place, 3).await;
    world.settle().await;
    let mut names = place.names();
    names.truncate(3);
    assert_eq!(names, ["0", "1", "2"].map(|part| format!("{KEY}:{part}")));
}

#[tokio::test]
async fn a_part_in_which_another_node_looks_is_skipped_and_told_at_info() {
    let (told, place) = (Told::new(), Place::new());
    let world = with_timer(&place, 1).await;
    let held = place.hold(KEY).await;
    assert_eq!(
        world.settle().await,
        1,
        "the timer became an errand, no more"
    );
    assert_eq!(world.status("a").await, SubStatus::Suspended);
    assert!(told.count(&["INFO", "another node looks for errands there"]) > 0);
    drop(held);
    world.settle().await;
    assert_eq!(world.status("a").await, SubStatus::Finished);
}

#[tokio::test]
async fn the_parts_that_nobody_looks_through_are_looked_through() {
    let place = Place::new();
    let world = with_timer(&place, 2).await;
    for id in ["b", "c", "d"] {
        world.start(id, of("w")).await;
    }
    let held = place.hold(&format!("{KEY}:0")).await;
    world.clock.advance(Duration::from_secs(1));
    world.settle().await;
    let mut done = 0;
    for id in ["a", "b", "c", "d"] {
        done += usize::from(world.status(id).await == SubStatus::Finished);
    }
    assert!((1..4).contains(&done), "some of each: {done} are done");
    drop(held);
    world.settle().await;
    for id in ["a", "b", "c", "d"] {
        assert_eq!(world.status(id).await, SubStatus::Finished);
    }
}

#[tokio::test]
async fn whoever_was_turned_away_looks_again_although_nobody_rings() {
    let place = Place::new();
    let cluster = place.cluster(|options| options.parts = 1);
    let world = World::with(|builder| {
        builder
            .cluster(cluster)
            .clock(lockwork::runtime::SystemClock)
    })
    .await;
    world
        .publish(workflow("w").root(delay("nap", "20ms")))
        .await;
    let held = place.hold(KEY).await;
    crate::support::soon(world.runtime().start()).await.unwrap();
    world.start("a", of("w")).await;
    tokio::time::sleep(Duration::from_millis(150)).await;
    assert_eq!(world.status("a").await, SubStatus::Suspended);
    drop(held);
    until_over(&world, "a").await;
    crate::support::soon(world.runtime().drain()).await;
}

/// Ends when it is over, in time.
async fn until_over(world: &World, id: &str) {
    let began = std::time::Instant::now();
    while world.status(id).await != SubStatus::Finished {
        tokio::time::sleep(Duration::from_millis(5)).await;
        assert!(began.elapsed() < Duration::from_secs(30), "too late");
    }
}

#[tokio::test]
async fn a_part_is_looked_through_after_the_node_that_did_died_with_its_lock() {
    let place = Place::new();
    let cluster = place.cluster(|options| options.parts = 1);
    let world = World::with(|builder| builder.cluster(cluster)).await;
    world.publish(workflow("w").root(delay("nap", "1s"))).await;
    world.start("a", of("w")).await;
    let dead = place.hold(KEY).await;
    crate::support::soon(world.runtime().start()).await.unwrap();
    world.clock.advance(Duration::from_secs(1));
    until(|| place.names().contains(&KEY.to_owned())).await;
    assert_eq!(world.status("a").await, SubStatus::Suspended);
    // Nobody gives it back: the lock server does when its lease is over.
    place.take_away(KEY).await;
    until_over(&world, "a").await;
    drop(dead);
    crate::support::soon(world.runtime().drain()).await;
}

#[tokio::test]
async fn nodes_agree_by_the_store_on_how_many_parts_there_are() {
    let place = Place::new();
    let first = place.cluster(|options| options.parts = 2);
    let world = World::with(|builder| builder.cluster(first)).await;
    let later = place.cluster(|options| options.parts = 7);
    let other = world.node(|builder| builder.cluster(later).options(Options::default()));
    for node in [&world, &other] {
        crate::support::soon(node.runtime().start()).await.unwrap();
        crate::support::soon(node.runtime().drain()).await;
    }
    place.asked();
    let last = world.node(|builder| {
        let cluster = place.cluster(|options| options.parts = 9);
        builder.cluster(cluster)
    });
    assert_eq!(world.store.parts(9).await.unwrap(), 2);
    crate::support::soon(last.runtime().start()).await.unwrap();
    until(|| place.names().contains(&format!("{KEY}:1"))).await;
    assert!(!place.names().contains(&format!("{KEY}:2")));
    crate::support::soon(last.runtime().drain()).await;
}
