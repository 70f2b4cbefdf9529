//! Being told by other locks when a mutex is free.

use crate::{Place, locks};
use lockwork::{Info, Locks};
use std::time::{Duration, Instant};

/// How long it takes from a release until the next one is in, one after the other.
async fn hand_offs(group: &str, here: &Locks, there: &Locks) -> Vec<Duration> {
    let mut took = Vec::new();
    for number in 0..6 {
        let (from, to) = if number % 2 == 0 {
            (here, there)
        } else {
            (there, here)
        };
        let name = format!("{group} {number}");
        let guard = from.mutex(&name).lock().await.unwrap();
        let waiting = tokio::spawn({
            let mutex = to.mutex(&name);
            async move {
                let guard = mutex.lock().await.unwrap();
                (guard, Instant::now())
            }
        });
        // So long that whoever asks again asks seldom by now.
        tokio::time::sleep(Duration::from_millis(2500)).await;
        let released_at = Instant::now();
        guard.release().await.unwrap();
        let (next, when) = waiting.await.unwrap();
        assert!(next.is_valid());
        took.push(when - released_at);
    }
    took.sort_unstable();
    took
}

#[tokio::test]
async fn whoever_waits_is_told_by_other_locks_where_there_are_some() {
    let place = Place::new().await;
    let bells = lockwork::connect("memory:").await.unwrap();
    let told = place.options.clone().wake(bells);
    let (here, there) = (locks(told.clone()).await, locks(told).await);
    let untold = (place.other().await, place.other().await);
    let Info { capability, .. } = here.info();
    assert!(capability.push && !untold.0.info().capability.push);
    let (told, untold) = tokio::join!(
        hand_offs("told", &here, &there),
        hand_offs("untold", &untold.0, &untold.1)
    );
    println!("told: {told:?}\nuntold: {untold:?}");
    let (median_told, median_untold) = (told[told.len() / 2], untold[untold.len() / 2]);
    assert!(
        median_told < lockwork_conformance::generous(Duration::from_millis(100)),
        "too late: {told:?}"
    );
    assert!(median_told < median_untold);
}

#[tokio::test]
async fn a_wake_channel_that_is_closed_does_no_harm() {
    let place = Place::new().await;
    let bells = lockwork::connect("memory:").await.unwrap();
    bells.close().await;
    let told = place.options.clone().wake(bells);
    let (here, there) = (locks(told.clone()).await, locks(told).await);
    let guard = here.mutex("x").lock().await.unwrap();
    let waiting = tokio::spawn({
        let mutex = there.mutex("x");
        async move { mutex.lock().await }
    });
    tokio::time::sleep(Duration::from_millis(300)).await;
    guard.release().await.unwrap();
    let next = crate::within(crate::SOON, "it asks again", waiting).await;
    assert!(next.unwrap().unwrap().is_valid());
}
