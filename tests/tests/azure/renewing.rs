//! Leases are renewed until the server clearly says that they are not ours.

use crate::{LEASE, Place, SOON, lock, weather::Fault};
use lockwork::Loss;
use lockwork_conformance::generous;
use std::time::{Duration, Instant};

#[tokio::test]
async fn a_renewal_that_fails_twice_and_then_succeeds_loses_nothing() {
    let place = Place::new().await;
    let (locks, other) = (place.client().await, place.other().await);
    for fault in [
        Fault::Answer(503, "ServerBusy", &[]),
        Fault::AnswerLost,
        Fault::Answer(500, "InternalError", &[]),
        Fault::Answer(403, "AuthenticationFailed", &[]),
    ] {
        place.weather.next("renew", fault);
    }
    let guard = lock(&locks).await;
    let began = Instant::now();
    while began.elapsed() < LEASE + Duration::from_secs(3) {
        assert_eq!(guard.lost().get(), None, "after {:?}", began.elapsed());
        assert!(other.mutex("x").try_lock().await.unwrap().is_none());
        tokio::time::sleep(Duration::from_millis(500)).await;
    }
    let renewals = place.weather.times("renew").len();
    println!("{renewals} renewals, of which four failed");
    assert!(guard.is_valid() && renewals >= 5);
    guard.release().await.unwrap();
}

#[tokio::test]
async fn a_guard_that_cannot_be_renewed_turns_itself_off_and_not_before() {
    let place = Place::new().await;
    let locks = place.client().await;
    for _ in 0..100 {
        place
            .weather
            .next("renew", Fault::Answer(503, "ServerBusy", &[]));
    }
    let asked_at = Instant::now();
    let guard = lock(&locks).await;
    assert_eq!(guard.lost().await, Loss::Expired);
    let after = asked_at.elapsed();
    println!("off after {after:?} of {LEASE:?}");
    assert!(after > LEASE - Duration::from_millis(500), "{after:?}");
    assert!(after < LEASE, "too late: {after:?}");
}

#[tokio::test]
async fn a_broken_lease_is_told_within_a_third_of_it_and_a_second() {
    let place = Place::new().await;
    let (locks, other) = (place.client().await, place.other().await);
    let mut worst = Duration::ZERO;
    let mut guards = Vec::new();
    for number in 0..10 {
        let name = number.to_string();
        guards.push((locks.mutex(&name).lock().await.unwrap(), name));
        // Not all in one moment of their renewals.
        tokio::time::sleep(LEASE / 30).await;
    }
    for (guard, name) in guards {
        let broken_at = Instant::now();
        assert_eq!(other.mutex(&name).break_lock("to see").await.unwrap(), 1);
        assert_eq!(guard.lost().await, Loss::Taken);
        worst = worst.max(broken_at.elapsed());
        let next = other.mutex(&name).try_lock().await.unwrap().unwrap();
        assert!(next.token() > guard.token());
    }
    println!("a broken lease was told after {worst:?} at worst");
    assert!(
        worst < generous(LEASE / 3 + Duration::from_secs(1)),
        "too late"
    );
}

#[tokio::test]
async fn the_guard_of_a_removed_blob_is_lost_and_the_next_token_is_higher() {
    let place = Place::new().await;
    let (locks, other) = (place.client().await, place.other().await);
    let guard = lock(&locks).await;
    let blob = place.container.blob_client(&place.blob().await);
    // Whoever removes a blob needs its lease, or ends that first.
    other.mutex("x").break_lock("to remove it").await.unwrap();
    blob.delete(None).await.unwrap();
    let removed_at = Instant::now();
    let next = lock(&other).await;
    assert!(next.token() > guard.token());
    assert_eq!(guard.lost().await, Loss::Taken);
    assert!(
        removed_at.elapsed() < generous(LEASE / 3 + Duration::from_secs(1)),
        "too late"
    );
    assert!(next.is_valid());
    next.release().await.unwrap();
    place.nothing_left(SOON).await;
}

#[tokio::test]
async fn a_removed_container_is_a_loss_and_then_a_sentence() {
    let place = Place::new().await;
    let locks = place.client().await;
    let guard = lock(&locks).await;
    place.container.delete(None).await.unwrap();
    assert_eq!(guard.lost().await, Loss::Taken);
    let error = locks.mutex("x").lock().await.unwrap_err();
    assert!(
        error.to_string().contains("container does not exist"),
        "{error}"
    );
}

#[tokio::test]
async fn a_blocked_runtime_does_not_lose_a_lease() {
    let place = Place::new().await;
    let locks = place.client().await;
    let guard = lock(&locks).await;
    // The only thread of this runtime.
    std::thread::sleep(LEASE + Duration::from_secs(5));
    assert!(guard.is_valid(), "{:?}", guard.lost().get());
    guard.release().await.unwrap();
}
