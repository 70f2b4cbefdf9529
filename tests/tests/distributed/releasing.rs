//! Locks that cannot be given back.

use crate::{
    place::{Place, key, until},
    support::{World, of},
    told::Told,
};
use lockwork::{flow::build::*, workflow::SubStatus};

#[tokio::test]
async fn a_lock_that_cannot_be_given_back_is_told_and_counted_and_fails_nobody() {
    let (told, place) = (Told::new(), Place::new());
    let cluster = place.cluster(|_| {});
    let world = World::with(|builder| builder.cluster(cluster.clone())).await;
    world.publish(workflow("w").root(log("say", "hello"))).await;
    place.keep(1);
    let ran = world.start("a", of("w")).await;
    assert_eq!(ran.sub_status, SubStatus::Finished);
    until(|| cluster.failed_releases() > 0).await;
    assert_eq!(cluster.failed_releases(), 1);
    assert_eq!(
        told.count(&["WARN", "could not be given back", &key("a")]),
        1
    );
    world.start("b", of("w")).await;
    tokio::task::yield_now().await;
    assert_eq!(cluster.failed_releases(), 1);
}
