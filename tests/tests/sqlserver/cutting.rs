//! Connections that break, and such that fall silent: a proxy cuts them.

use crate::{
    AT_ONCE, LEASE, SOON, generous,
    place::{Place, SHORT_LEASE, a_while, connect},
    wait_for, within,
};
use lockwork::Loss;
use std::time::Instant;

#[tokio::test]
async fn a_waiter_whose_connection_breaks_waits_on_another_and_gets_the_lock() {
    let place = Place::sql_server();
    let mut guest = place.guest().await;
    let proxy = place.proxy().await;
    let here = place.client().await;
    let there = connect(&place.url_through(&proxy, "tenure=0s")).await;
    let guard = here.mutex("x").lock().await.unwrap();
    let waiting = wait_for(&there, "x");
    guest.until_waiting(1).await;
    let before = guest.ports_that(false).await;
    proxy.reset();
    guest.until_another_waits(&before).await;
    guest.until_waiting(1).await;
    assert!(!waiting.is_finished());
    guard.release().await.unwrap();
    let (next, _) = within(SOON, "the waiter gets in", waiting).await.unwrap();
    assert!(next.is_valid());
    next.release().await.unwrap();
    guest.until_nothing_is_left().await;
}

#[tokio::test]
async fn a_holder_whose_connection_breaks_is_told_at_once_and_followed() {
    let place = Place::sql_server();
    let mut guest = place.guest().await;
    let proxy = place.proxy().await;
    let there = place.client().await;
    let here = connect(&place.url_through(&proxy, "tenure=0s")).await;
    let guard = here.mutex("x").lock().await.unwrap();
    let waiting = wait_for(&there, "x");
    guest.until_waiting(1).await;
    proxy.reset();
    within(AT_ONCE, "the loss is told", guard.lost()).await;
    let (next, _) = within(AT_ONCE, "the next one gets in", waiting)
        .await
        .unwrap();
    assert!(next.token() > guard.token());
}

#[tokio::test]
async fn a_guard_in_the_dark_is_off_within_its_lease_and_followed_once_the_server_frees_the_lock() {
    let place = Place::sql_server();
    let mut guest = place.guest().await;
    let proxy = place.proxy().await;
    let there = place.client().await;
    let here = connect(&place.url_through(&proxy, SHORT_LEASE)).await;
    let guard = here.mutex("x").lock().await.unwrap();
    let waiting = wait_for(&there, "x");
    guest.until_waiting(1).await;
    let holding = guest.sessions_that(true).await;
    proxy.blackhole();
    let cut = Instant::now();
    let loss = within(LEASE, "the guard is off", guard.lost()).await;
    println!(
        "cut off, the guard was off after {:?} (lease {LEASE:?})",
        cut.elapsed()
    );
    assert_eq!(loss, Loss::Expired);
    assert!(!guard.is_valid());
    assert!(
        cut.elapsed() < generous(LEASE),
        "too late: {:?}",
        cut.elapsed()
    );
    a_while().await;
    assert!(!waiting.is_finished(), "the server has heard of nothing");
    // As it does when its probes have failed.
    guest.kill(&holding).await;
    let (next, _) = within(AT_ONCE, "the next one gets in", waiting)
        .await
        .unwrap();
    assert!(next.token() > guard.token());
}

#[tokio::test]
async fn a_waiter_in_the_dark_that_was_granted_the_lock_has_it_when_it_is_light_again() {
    let place = Place::sql_server();
    let mut guest = place.guest().await;
    let proxy = place.proxy().await;
    let here = place.client().await;
    let there = connect(&place.url_through(&proxy, "tenure=0s")).await;
    let guard = here.mutex("x").lock().await.unwrap();
    let waiting = wait_for(&there, "x");
    guest.until_waiting(1).await;
    proxy.blackhole();
    guard.release().await.unwrap();
    guest.until_waiting(0).await;
    assert!(here.mutex("x").try_lock().await.unwrap().is_none());
    assert!(!waiting.is_finished());
    proxy.heal();
    let (next, _) = within(AT_ONCE, "the grant is heard of", waiting)
        .await
        .unwrap();
    assert!(next.is_valid());
    next.release().await.unwrap();
    guest.until_nothing_is_left().await;
}
