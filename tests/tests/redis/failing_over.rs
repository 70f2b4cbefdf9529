//! A replica that lags becomes the primary: exclusion can break, and its loser is told.
//!
//! Redis answers before its replicas know. A lock that was granted in that time is unknown to the new
//! primary, which grants it again. Its token comes from the clock of that server: higher than the first
//! where the clocks of both agree to the millisecond and the grants are not of the same one. Whoever
//! checks tokens is safe as far as the clocks are right; `doctor` warns of replicas.

use crate::{LEASE, SOON, client, options, within};
use lockwork::{Instant, Loss};
use lockwork_conformance::Proxy;
use lockwork_servers::{Redis, RedisSettings, Sentinel};
use std::time::Duration;

/// A primary, and a replica that hears of it through a proxy.
async fn pair() -> (Redis, Redis, Proxy) {
    let primary = Redis::start(RedisSettings::new()).unwrap();
    let link = Proxy::start(primary.port()).await.unwrap();
    let follow = format!("127.0.0.1 {}", link.port());
    let settings = RedisSettings::new().set("replicaof", &follow);
    // What drives the proxy must not be what waits for the replica.
    let replica = tokio::task::block_in_place(|| {
        let replica = Redis::start(settings).unwrap();
        replica.in_sync_with(&primary).unwrap();
        replica
    });
    (primary, replica, link)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_lock_that_the_new_primary_never_heard_of_is_granted_again_and_its_holder_is_told() {
    let (primary, replica, link) = pair().await;
    let way = Proxy::start(primary.port()).await.unwrap();
    let long = options(way.port()).lease(SOON);
    let (here, there) = (crate::locks(long.clone()).await, crate::locks(long).await);
    let old = here.mutex("old").lock().await.unwrap();
    replica.in_sync_with(&primary).unwrap();
    link.blackhole();
    let guard = here.mutex("x").lock().await.unwrap();
    primary.kill().unwrap();
    replica.ask(&["REPLICAOF", "NO", "ONE"]).unwrap();
    way.redirect(replica.port());
    let moved = Instant::now();
    way.reset();
    let next = within(SOON, "it is granted again", there.mutex("x").lock()).await;
    let next = next.unwrap();
    println!(
        "granted twice: both valid for a moment: {}, tokens {:?} and {:?}",
        guard.is_valid(),
        guard.token(),
        next.token()
    );
    assert!(next.token() > guard.token());
    let limit = Duration::from_millis(1500);
    let loss = within(limit, "the loss is told", guard.lost()).await;
    assert_eq!(loss, Loss::Taken);
    println!("told {:?} after the address had moved", moved.elapsed());
    assert!(next.is_valid());
    // What the replica knew of is still held.
    assert!(old.is_valid());
    assert!(there.mutex("old").try_lock().await.unwrap().is_none());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_holder_that_never_reaches_the_new_primary_is_off_at_the_end_of_its_lease() {
    let (primary, replica, link) = pair().await;
    let way = Proxy::start(primary.port()).await.unwrap();
    let here = client(way.port()).await;
    link.blackhole();
    let guard = here.mutex("x").lock().await.unwrap();
    let cut = Instant::now();
    way.blackhole();
    replica.ask(&["REPLICAOF", "NO", "ONE"]).unwrap();
    let there = client(replica.port()).await;
    let next = there.mutex("x").try_lock().await.unwrap();
    assert!(next.expect("never heard of it").token() > guard.token());
    let loss = within(LEASE, "the loss is told", guard.lost()).await;
    assert_eq!(loss, Loss::Expired);
    println!("cut off from both: off after {:?}", cut.elapsed());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sentinels_lead_to_whoever_is_the_primary_now() {
    let primary = Redis::start(RedisSettings::new()).unwrap();
    let replica = primary.replica(RedisSettings::new()).unwrap();
    replica.in_sync_with(&primary).unwrap();
    let sentinel = Sentinel::start(&primary).unwrap();
    let port = sentinel.port();
    let url = format!("redis+sentinel://127.0.0.1:{port}/{}", sentinel.name());
    let locks = lockwork::connect(&url).await.unwrap();
    let guard = locks.mutex("x").lock().await.unwrap();
    replica.in_sync_with(&primary).unwrap();
    primary.kill().unwrap();
    tokio::task::block_in_place(|| sentinel.has_promoted(&replica).unwrap());
    // The replica had heard of it, and the lease is long: it is renewed at the new primary.
    let end = guard.valid_until();
    crate::until(SOON, "it is renewed", || guard.valid_until() > end).await;
    assert!(guard.is_valid());
    let other = client(replica.port()).await;
    assert!(other.mutex("x").try_lock().await.unwrap().is_none());
    guard.release().await.unwrap();
    crate::works(&locks, "x").await;
}
