//! Blobs that nobody uses any more.

use crate::{Place, lock};
use std::time::Duration;

/// Longer than the margin by which a token must be in the past.
const WHILE: Duration = Duration::from_secs(7);

#[tokio::test]
async fn idle_blobs_are_removed_and_held_ones_stay_and_tokens_rise_across_it() {
    let place = Place::new().await;
    let (locks, other) = (place.client().await, place.other().await);
    let before = lock(&locks).await;
    let token = before.token();
    before.release().await.unwrap();
    let held = locks.mutex("held").lock().await.unwrap();
    let permit = locks.semaphore("s", 2).acquire().await.unwrap();
    permit.release().await.unwrap();
    assert_eq!(place.blobs().await.len(), 3);
    assert_eq!(other.collect(Duration::from_secs(3600)).await.unwrap(), 0);
    // The blob of a permit, which has no token. Those of others might not rise yet.
    assert_eq!(other.collect(Duration::ZERO).await.unwrap(), 1);
    tokio::time::sleep(WHILE).await;
    assert_eq!(other.collect(Duration::ZERO).await.unwrap(), 1);
    assert_eq!(place.blobs().await.len(), 1);
    assert!(held.is_valid());
    // Both know a blob that is gone.
    for locks in [&locks, &other] {
        let guard = lock(locks).await;
        assert!(guard.token() > token);
        guard.release().await.unwrap();
    }
    held.release().await.unwrap();
}

#[tokio::test]
async fn names_used_once_leave_nothing_behind() {
    let place = Place::new().await;
    let locks = place.client().await;
    for number in 0..200 {
        let mutex = locks.mutex(number.to_string());
        mutex.lock().await.unwrap().release().await.unwrap();
    }
    tokio::time::sleep(WHILE).await;
    assert_eq!(locks.collect(Duration::from_secs(1)).await.unwrap(), 200);
    assert!(place.blobs().await.is_empty());
}
