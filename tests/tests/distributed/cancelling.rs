//! Ending what this node runs, what another one does, and what nobody does.

use crate::{
    place::{Place, key},
    support::{World, joined, of, soon},
};
use lockwork::{
    flow::build::*,
    runtime::{Clock, Options},
    workflow::{Cancelled, SubStatus},
};
use std::time::Duration;

/// Ends when the node has looked once more for what others want ended: it says that it lives, looks, and says so again.
async fn until_it_has_looked(world: &World) {
    for _ in 0..2 {
        world.clock.advance(Duration::from_millis(1));
        let now = world.clock.now();
        let said = async {
            while world.store.nodes().await.unwrap()[0].beat < now {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
        };
        soon(said).await;
    }
}

#[tokio::test]
async fn cancelling_what_only_waits_is_done_under_its_lock_at_once() {
    let place = Place::new();
    let world = place.world().await;
    world.publish(workflow("w").root(event("wait", "Go"))).await;
    world.start("a", of("w")).await;
    place.asked();
    let cancelled = soon(world.client("a").cancel()).await.unwrap();
    assert_eq!(cancelled, Cancelled::Done);
    assert_eq!(world.status("a").await, SubStatus::Cancelled);
    assert_eq!(place.names(), [key("a")]);
}

#[tokio::test]
async fn cancelling_what_another_node_runs_ends_it_at_its_next_step() {
    let place = Place::new();
    let mut often = Options::default();
    // It looks three times in this time.
    often.hold = Duration::from_millis(600);
    let world = World::with(|builder| place.join(builder).options(often)).await;
    let other = world.node(|builder| place.join(builder));
    let steps = [
        call("stay", "gate"),
        call("then", "note").with("args", "went"),
    ];
    world
        .publish(workflow("w").root(sequence("all", steps)))
        .await;
    soon(world.runtime().start()).await.unwrap();
    let running = world.spawn_start("a", of("w"));
    world.gate.called(1).await;
    let cancelled = soon(other.client("a").cancel()).await.unwrap();
    assert_eq!(cancelled, Cancelled::Requested);
    until_it_has_looked(&world).await;
    world.gate.open();
    let ran = joined(running).await.unwrap();
    assert_eq!(ran.sub_status, SubStatus::Cancelled);
    assert!(world.notes.all().is_empty(), "no step more");
    soon(world.runtime().drain()).await;
}
