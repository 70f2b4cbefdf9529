//! Answers that are lost, and requests that arrive when nobody expects them any more.

use crate::{LEASE, Place, SOON, lock, weather::Fault};
use lockwork::{ErrorKind, azure::azure_core::http::StatusCode, layers::Retry};
use lockwork_conformance::within;
use std::time::Duration;

#[tokio::test]
async fn an_answer_that_is_lost_at_any_step_loses_no_lock_and_no_token() {
    for step in ["look", "create", "lease", "write", "release"] {
        let place = Place::new().await;
        let (locks, other) = (place.client().await, place.other().await);
        let before = (step == "write").then_some(&other);
        let mut last = None;
        if let Some(other) = before {
            let first = lock(other).await;
            last = first.token();
            first.release().await.unwrap();
        }
        place.weather.next(step, Fault::AnswerLost);
        let guard = lock(&locks).await;
        assert!(guard.token() > last, "{step}");
        assert!(
            other.mutex("x").try_lock().await.unwrap().is_none(),
            "{step}"
        );
        let token = guard.token();
        guard.release().await.unwrap();
        place.nothing_left(Duration::from_secs(2)).await;
        let next = lock(&other).await;
        assert!(next.token() > token, "{step}");
    }
}

#[tokio::test]
async fn an_owner_that_tries_again_finds_what_it_was_granted() {
    let place = Place::new().await;
    let locks = place.client().await.layer(Retry::new());
    // Both tries of the first request.
    place.weather.next("lease", Fault::AnswerLost);
    place.weather.next("lease", Fault::AnswerLost);
    let guard = lock(&locks).await;
    println!("{:?}", place.weather.asked());
    assert!(guard.is_valid());
    guard.release().await.unwrap();
    place.nothing_left(Duration::from_secs(2)).await;
}

#[tokio::test]
async fn a_request_that_comes_after_the_release_is_refused() {
    let place = Place::new().await;
    let (locks, other) = (place.client().await, place.other().await);
    place
        .weather
        .next("lease", Fault::Late(Duration::from_millis(1500)));
    let guard = lock(&locks).await;
    assert!(guard.token().is_some());
    guard.release().await.unwrap();
    // What comes late would keep everybody out for as long as a lease is.
    let answer = within(SOON, "it comes late", place.weather.came_late()).await;
    assert_eq!(answer, StatusCode::PreconditionFailed);
    assert!(other.mutex("x").try_lock().await.unwrap().is_some());
}

#[tokio::test]
async fn a_request_that_comes_after_its_owner_has_left_is_refused() {
    let place = Place::new().await;
    let (locks, other) = (place.client().await, place.other().await);
    let held = lock(&other).await;
    assert!(locks.mutex("x").try_lock().await.unwrap().is_none());
    let late = Fault::Late(Duration::from_secs(5));
    place.weather.next("lease", late);
    let wait = Duration::from_millis(500);
    assert!(locks.mutex("x").try_lock_for(wait).await.unwrap().is_none());
    // The holder has written already: nobody else may, as long as it holds the lock.
    let refused = async {
        while place.weather.times("write").len() < 2 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    within(SOON, "it is tried to write again", refused).await;
    held.release().await.unwrap();
    let answer = within(SOON, "it comes late", place.weather.came_late()).await;
    assert_eq!(answer, StatusCode::PreconditionFailed);
    assert!(other.mutex("x").try_lock().await.unwrap().is_some());
}

#[tokio::test]
async fn a_request_that_was_granted_after_its_owner_has_left_is_given_back() {
    let place = Place::new().await;
    let (locks, other) = (place.client().await, place.other().await);
    let held = lock(&other).await;
    assert!(locks.mutex("x").try_lock().await.unwrap().is_none());
    let late = Fault::Late(Duration::from_millis(700));
    place.weather.next("lease", late);
    // The last word of its owner takes longer than the late one.
    for _ in 0..2 {
        place
            .weather
            .next("write", Fault::Slow(Duration::from_secs(2)));
    }
    let wait = Duration::from_millis(100);
    assert!(locks.mutex("x").try_lock_for(wait).await.unwrap().is_none());
    held.release().await.unwrap();
    let answer = within(SOON, "it comes late", place.weather.came_late()).await;
    assert_eq!(answer, StatusCode::Created);
    let nobody_has_it = async {
        while other.mutex("x").try_lock().await.unwrap().is_none() {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    within(LEASE / 2, "it is given back", nobody_has_it).await;
}

#[tokio::test]
async fn a_lease_that_ended_before_its_token_was_written_is_asked_for_anew() {
    let place = Place::new().await;
    let (locks, other) = (place.client().await, place.other().await);
    lock(&other).await.release().await.unwrap();
    place
        .weather
        .next("write", Fault::Slow(Duration::from_secs(2)));
    let waiting = tokio::spawn({
        let mutex = locks.mutex("x");
        async move { mutex.lock().await.unwrap() }
    });
    let broken = async {
        while other.mutex("x").break_lock("to see").await.unwrap() == 0 {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    within(SOON, "there is a lease to break", broken).await;
    let guard = waiting.await.unwrap();
    let asked = place.weather.asked();
    assert_eq!(
        asked.iter().filter(|kind| **kind == "write").count(),
        2,
        "{asked:?}"
    );
    assert!(guard.is_valid());
    assert!(other.mutex("x").try_lock().await.unwrap().is_none());
}

#[tokio::test]
async fn a_token_that_cannot_be_written_leaves_no_lease() {
    let place = Place::new().await;
    let (locks, other) = (place.client().await, place.other().await);
    lock(&other).await.release().await.unwrap();
    let refused = Fault::Answer(403, "AuthorizationPermissionMismatch", &[]);
    place.weather.next("write", refused);
    let error = locks.mutex("x").lock().await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Denied, "{error}");
    place.nothing_left(Duration::from_secs(1)).await;
}

#[tokio::test]
async fn a_silent_server_is_an_error_in_time() {
    let place = Place::new().await;
    let locks = place.client().await;
    for _ in 0..2 {
        place.weather.next("look", Fault::Slow(LEASE));
    }
    let began = std::time::Instant::now();
    let wait = Duration::from_secs(1);
    let error = locks.mutex("x").try_lock_for(wait).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unavailable, "{error}");
    assert!(
        began.elapsed() < Duration::from_secs(3),
        "too late: {:?}",
        began.elapsed()
    );
}
