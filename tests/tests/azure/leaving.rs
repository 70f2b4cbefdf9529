//! Acquires that are given up at any moment leave no lease behind.

use crate::{Place, SOON, lock};
use lockwork_conformance::poll_at_most;
use std::time::Duration;

/// More than an acquire is polled for, where nothing is known of the blob.
const POLLS: u32 = 12;

const TIMES: u32 = 10;

#[tokio::test]
async fn an_acquire_dropped_at_any_poll_leaves_no_lease() {
    let place = Place::new().await;
    let locks = place.client().await;
    let mut dropped = 0;
    for round in 0..TIMES * POLLS {
        let polls = round % POLLS + 1;
        // First with nothing known, then with a blob that is there.
        for name in [format!("new {round}"), "x".to_owned()] {
            let mutex = locks.mutex(&name);
            let taken = poll_at_most(polls, mutex.lock()).await;
            dropped += u32::from(taken.is_none());
        }
    }
    println!("{dropped} of {} were dropped half way", 2 * TIMES * POLLS);
    assert!(dropped > 4 * TIMES);
    locks.close().await;
    place.nothing_left(Duration::from_secs(2)).await;
    let next = place.other().await;
    drop(lockwork_conformance::within(SOON, "all is free", lock(&next)).await);
}
