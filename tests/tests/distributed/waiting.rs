//! A lock that somebody else has.

use crate::{
    place::{Place, key},
    support::{World, kind, of, soon},
};
use lockwork::{
    distributed::DistributedOptions,
    flow::build::*,
    workflow::{ErrorKind, Run},
};
use std::time::{Duration, Instant};

#[tokio::test]
async fn a_busy_lock_is_waited_for_as_long_as_one_is_ready_to_and_never_retried() {
    let place = Place::new();
    let brief = place.cluster(|options| options.patience = Duration::from_millis(60));
    let world = World::with(|builder| builder.cluster(brief)).await;
    world.publish(workflow("w").root(log("say", "hello"))).await;
    soon(world.client("a").create(of("w"))).await.unwrap();
    let _held = place.hold(&key("a")).await;
    let began = Instant::now();
    let busy = soon(world.client("a").run(Run::default())).await;
    assert_eq!(kind(busy), ErrorKind::Busy);
    assert!(began.elapsed() >= Duration::from_millis(60));
    assert_eq!(place.asked(), [(key("a"), true)], "once, and it waited");
}

#[test]
fn it_is_waited_for_for_ten_minutes_unless_said_otherwise() {
    let options = DistributedOptions::default();
    assert_eq!(options.patience, Duration::from_secs(600));
    assert_eq!(options.lease, Duration::from_secs(6));
}
