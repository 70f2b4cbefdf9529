//! How many requests a lock costs.

use crate::{Place, lock};
use lockwork::{Locks, azure::Tokens};

/// Takes it, and what that asked.
async fn taking(place: &Place, locks: &Locks) -> (lockwork::Guard, Vec<&'static str>) {
    place.weather.asked();
    let guard = lock(locks).await;
    (guard, place.weather.asked())
}

async fn giving_back(place: &Place, guard: lockwork::Guard) -> Vec<&'static str> {
    place.weather.asked();
    guard.release().await.unwrap();
    place.weather.asked()
}

#[tokio::test]
async fn a_lock_whose_blob_is_missing_takes_three_requests_and_one_to_give_back() {
    let place = Place::new().await;
    let locks = place.client().await;
    let (guard, asked) = taking(&place, &locks).await;
    println!("missing: {asked:?}");
    assert_eq!(asked, ["look", "create", "lease"]);
    assert!(guard.token().is_some());
    assert_eq!(giving_back(&place, guard).await, ["release"]);
}

#[tokio::test]
async fn a_lock_whose_blob_is_known_takes_two_requests() {
    let place = Place::new().await;
    let locks = place.client().await;
    let first = lock(&locks).await;
    let before = first.token();
    first.release().await.unwrap();
    let (guard, asked) = taking(&place, &locks).await;
    println!("known: {asked:?}");
    assert_eq!(asked, ["lease", "write"]);
    assert!(guard.token() > before);
    assert_eq!(giving_back(&place, guard).await, ["release"]);
}

#[tokio::test]
async fn a_lock_whose_blob_is_there_and_not_known_takes_three() {
    let place = Place::new().await;
    lock(&place.other().await).await.release().await.unwrap();
    let locks = place.client().await;
    let (_guard, asked) = taking(&place, &locks).await;
    println!("there: {asked:?}");
    assert_eq!(asked, ["look", "lease", "write"]);
}

#[tokio::test]
async fn a_lock_that_somebody_else_had_meanwhile_takes_four() {
    let place = Place::new().await;
    let (locks, other) = (place.client().await, place.other().await);
    lock(&locks).await.release().await.unwrap();
    lock(&other).await.release().await.unwrap();
    let (guard, asked) = taking(&place, &locks).await;
    println!("known, and no more so: {asked:?}");
    assert_eq!(asked, ["lease", "look", "lease", "write"]);
    assert_eq!(giving_back(&place, guard).await, ["release"]);
}

#[tokio::test]
async fn a_lock_that_is_busy_costs_one_request_each_time_it_is_asked_for() {
    let place = Place::new().await;
    let (locks, other) = (place.client().await, place.other().await);
    let _held = lock(&other).await;
    for expected in [["look"], ["lease"], ["lease"]] {
        place.weather.asked();
        assert!(locks.mutex("x").try_lock().await.unwrap().is_none());
        assert_eq!(place.weather.asked(), expected);
    }
}

#[tokio::test]
async fn a_permit_is_one_request_once_its_blob_is_there() {
    let place = Place::new().await;
    let semaphore = place.client().await.semaphore("s", 1);
    semaphore.acquire().await.unwrap().release().await.unwrap();
    place.weather.asked();
    semaphore.acquire().await.unwrap().release().await.unwrap();
    assert_eq!(place.weather.asked(), ["lease", "release"]);
}

#[tokio::test]
async fn tokens_by_sequence_take_two_requests_whoever_had_it_before() {
    let mut place = Place::new().await;
    place.options = place.options.tokens(Tokens::Sequence);
    let (locks, other) = (place.client().await, place.other().await);
    let (guard, asked) = taking(&place, &locks).await;
    assert_eq!(asked, ["lease", "create", "lease", "count"]);
    let before = guard.token();
    guard.release().await.unwrap();
    lock(&other).await.release().await.unwrap();
    let (guard, asked) = taking(&place, &locks).await;
    assert_eq!(asked, ["lease", "count"]);
    assert!(guard.token() > before);
}

#[tokio::test]
async fn blobs_of_two_kinds_are_told_apart() {
    let mut place = Place::new().await;
    lock(&place.client().await).await.release().await.unwrap();
    place.options = place.options.tokens(Tokens::Sequence);
    let error = place.client().await.mutex("x").lock().await.unwrap_err();
    assert_eq!(error.kind(), lockwork::ErrorKind::Invalid, "{error}");
    place.nothing_left(crate::SOON).await;
}
