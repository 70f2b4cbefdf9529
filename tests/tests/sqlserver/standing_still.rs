//! Servers that stand still, as in a machine that is suspended.

use crate::{
    LEASE, SOON,
    place::{Place, SHORT_LEASE, a_while, connect},
    restarting::server,
    take, wait_for, within, works,
};
use lockwork::{ErrorKind, Loss};
use lockwork_conformance::sqlserver::Settings;
use std::time::{Duration, Instant};

#[tokio::test]
async fn a_server_that_stands_still_for_a_moment_takes_nothing_away() {
    let server = server(Settings::new()).await;
    let place = Place::at(&format!("{}?trust=any", server.url()));
    let mut guest = place.guest().await;
    let (here, there) = (place.client().await, place.client().await);
    let guard = here.mutex("x").lock().await.unwrap();
    let waiting = wait_for(&there, "x");
    guest.until_waiting(1).await;
    for _ in 0..3 {
        server.freeze();
        a_while().await;
        server.thaw();
        a_while().await;
        assert!(guard.is_valid());
        assert!(!waiting.is_finished());
    }
    server.freeze();
    let releasing = tokio::spawn(guard.release());
    a_while().await;
    assert!(!waiting.is_finished());
    server.thaw();
    within(SOON, "the release", releasing)
        .await
        .unwrap()
        .unwrap();
    drop(within(SOON, "the next one gets in", waiting).await.unwrap());
}

#[tokio::test]
async fn a_server_that_stands_still_for_longer_than_the_lease_loses_the_guards_first() {
    let server = server(Settings::new()).await;
    let place = Place::at(&format!("{}?trust=any", server.url()));
    let mut guest = place.guest().await;
    let (here, there) = (
        connect(&place.url(SHORT_LEASE)).await,
        connect(&place.url(SHORT_LEASE)).await,
    );
    let guard = here.mutex("x").lock().await.unwrap();
    let waiting = wait_for(&there, "x");
    guest.until_waiting(1).await;
    server.freeze();
    let frozen = Instant::now();
    let loss = within(LEASE, "the guard is off", guard.lost()).await;
    let off = Instant::now();
    assert_eq!(loss, Loss::Expired);
    println!(
        "frozen, the guard was off after {:?} (lease {LEASE:?})",
        off - frozen
    );
    server.thaw();
    let (next, granted) = within(SOON, "the next one gets in", waiting).await.unwrap();
    assert!(off <= granted, "two were in for {:?}", off - granted);
    assert!(next.is_valid() && next.token() > guard.token());
    next.release().await.unwrap();
    works(&here, "x").await;
}

#[tokio::test]
async fn a_wait_is_over_soon_after_its_deadline_although_the_server_stands_still() {
    let server = server(Settings::new()).await;
    let place = Place::at(&format!("{}?trust=any", server.url()));
    let here = place.client().await;
    take(&here, "x").await.release().await.unwrap();
    server.freeze();
    let mutex = here.mutex("y");
    let waiting = mutex.try_lock_for(Duration::from_millis(200));
    // Less than the session's own patience, which is 5 s.
    let waited = within(Duration::from_secs(3), "the end of the wait", waiting).await;
    assert_eq!(waited.unwrap_err().kind(), ErrorKind::Unavailable);
    server.thaw();
    works(&here, "y").await;
}

#[tokio::test]
async fn a_server_that_stands_still_is_not_waited_for_longer_than_ten_seconds() {
    let server = server(Settings::new()).await;
    let place = Place::at(&format!("{}?trust=any", server.url()));
    let here = place.client().await;
    let guard = here.mutex("x").lock().await.unwrap();
    server.freeze();
    let start = Instant::now();
    let mutex = here.mutex("y");
    let refused = within(Duration::from_secs(12), "an answer", mutex.try_lock()).await;
    assert_eq!(refused.unwrap_err().kind(), ErrorKind::Unavailable);
    println!("a frozen server was given up after {:?}", start.elapsed());
    within(Duration::from_secs(1), "the loss is told", guard.lost()).await;
    server.thaw();
    take(&here, "x").await.release().await.unwrap();
}
