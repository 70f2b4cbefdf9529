//! Nodes whose store is away for a while.

use crate::{
    shaky::Shaky,
    support::{World, of, soon},
};
use lockwork::{
    flow::build::*,
    runtime::{Options, Readiness, SystemClock},
    workflow::SubStatus,
};
use std::{
    sync::Arc,
    time::{Duration, Instant},
};

async fn until(what: impl Fn() -> bool) {
    let began = Instant::now();
    while !what() {
        assert!(
            began.elapsed() < Duration::from_secs(30),
            "too late: this never came"
        );
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

#[tokio::test]
async fn a_node_whose_store_is_away_says_that_it_is_not_ready_and_goes_on_when_it_is_back() {
    let shaky = Shaky::new([]).await;
    let mut options = Options::default();
    options.hold = Duration::from_millis(500);
    let store = Arc::clone(&shaky);
    let world = World::on(store, |builder| builder.options(options).clock(SystemClock));
    world
        .publish(workflow("w").root(delay("nap", "100ms")))
        .await;
    soon(world.runtime().start()).await.unwrap();
    until(|| world.runtime().readiness() == Readiness::Ready).await;
    world.start("a", of("w")).await;
    shaky.is_away(true);
    until(|| matches!(world.runtime().readiness(), Readiness::NotReady(_))).await;
    tokio::time::sleep(Duration::from_millis(200)).await;
    assert_eq!(world.status("a").await, SubStatus::Suspended);
    shaky.is_away(false);
    until(|| world.runtime().readiness() == Readiness::Ready).await;
    let began = Instant::now();
    while world.status("a").await != SubStatus::Finished {
        assert!(
            began.elapsed() < Duration::from_secs(30),
            "too late: this never came"
        );
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    soon(world.runtime().drain()).await;
}
