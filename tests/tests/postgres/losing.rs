//! What the network does to answers: a proxy delays, swallows and cuts them.

use crate::{SOON, advisory_locks, locks, options, server, through, until, within};
use lockwork::{ErrorKind, Locks};
use lockwork_conformance::Proxy;
use lockwork_servers::Postgres;
use std::time::{Duration, Instant};

const LEASE: Duration = Duration::from_secs(3);

/// A client behind a proxy, whose silence the server bears for three seconds.
async fn behind(server: &Postgres) -> (Locks, Proxy) {
    let proxy = Proxy::start(server.port()).await.unwrap();
    let options = options(&through(server, &proxy)).lease(LEASE);
    (locks(options.connect().await.unwrap()), proxy)
}

#[tokio::test]
async fn a_grant_whose_reply_was_lost_does_not_stay() {
    let server = server(&[]);
    let (here, proxy) = behind(&server).await;
    drop(here.mutex("warm").lock().await.unwrap());
    proxy.drop_replies();
    let mutex = here.mutex("x");
    let start = Instant::now();
    let refused = within(Duration::from_secs(12), "an answer", mutex.try_lock()).await;
    assert_eq!(refused.unwrap_err().kind(), ErrorKind::Unavailable);
    println!("a lost reply was given up after {:?}", start.elapsed());
    proxy.heal();
    until(LEASE + SOON, "the grant is gone", || {
        advisory_locks(&server) == 0
    })
    .await;
    let guard = within(SOON, "a lock", here.mutex("x").lock()).await;
    guard.unwrap().release().await.unwrap();
}

#[tokio::test]
async fn a_guard_in_the_dark_is_off_before_the_server_gives_its_lock_away() {
    let server = server(&[]);
    let (here, proxy) = behind(&server).await;
    let there = crate::client(&server.url()).await;
    let guard = here.mutex("x").lock().await.unwrap();
    let waiting = tokio::spawn({
        let mutex = there.mutex("x");
        async move { (mutex.lock().await.unwrap(), Instant::now()) }
    });
    let cut = Instant::now();
    proxy.blackhole();
    within(
        LEASE + Duration::from_millis(500),
        "the guard is off",
        guard.lost(),
    )
    .await;
    let off = Instant::now();
    let (next, granted) = within(SOON, "the next one gets in", waiting).await.unwrap();
    assert!(next.token() > guard.token());
    assert!(off <= granted, "two valid guards for {:?}", off - granted);
    println!(
        "cut off, the guard was off after {:?} and the next one in after {:?} (lease {LEASE:?})",
        off - cut,
        granted - cut
    );
}

#[tokio::test]
async fn a_connection_that_is_cut_is_noticed_at_once() {
    let server = server(&[]);
    let (here, proxy) = behind(&server).await;
    let guard = here.mutex("x").lock().await.unwrap();
    proxy.reset();
    within(Duration::from_millis(250), "the loss is told", guard.lost()).await;
    drop(
        within(SOON, "a lock", here.mutex("x").lock())
            .await
            .unwrap(),
    );
}

#[tokio::test]
async fn a_slow_network_only_makes_it_slow() {
    let server = server(&[]);
    let (here, proxy) = behind(&server).await;
    proxy.delay(Duration::from_millis(200));
    let guard = within(SOON, "a lock", here.mutex("x").lock())
        .await
        .unwrap();
    tokio::time::sleep(LEASE + Duration::from_secs(1)).await;
    assert!(guard.is_valid(), "it was renewed in time");
    guard.release().await.unwrap();
}

#[tokio::test]
async fn a_wait_ends_on_time_although_the_server_is_out_of_reach() {
    let server = server(&[]);
    let (here, proxy) = behind(&server).await;
    proxy.blackhole();
    proxy.reset();
    let limit = Duration::from_millis(500);
    let start = Instant::now();
    let refused = here.mutex("x").try_lock_for(limit).await.unwrap_err();
    let waited = start.elapsed();
    assert_eq!(refused.kind(), ErrorKind::Unavailable, "{refused}");
    let allowed = lockwork_conformance::generous(limit + Duration::from_millis(300));
    assert!(waited < allowed, "too late: {waited:?}");
}
