//! Processes that are killed while they hold a lock.

use crate::{LEASE, Place, SOON, within};
use lockwork_conformance::generous;
use std::time::{Duration, Instant};

#[tokio::test]
async fn the_next_one_is_in_soon_after_the_end_of_a_killed_holders_lease() {
    let place = Place::new().await;
    let here = place.other().await;
    let mut waiting = Vec::new();
    for number in 0..4 {
        let name = number.to_string();
        let mut other = place.taker().await;
        let asked_at = Instant::now();
        let theirs = within(SOON, "they hold it", other.lock(&name)).await;
        // Before its first renewal: its lease ends then.
        other.kill().await;
        let mutex = here.mutex(&name);
        waiting.push(tokio::spawn(async move {
            let guard = within(SOON, "the next one gets in", mutex.lock())
                .await
                .unwrap();
            assert!(guard.token() > theirs);
            asked_at.elapsed()
        }));
        tokio::time::sleep(Duration::from_millis(300)).await;
    }
    let mut took = Vec::new();
    for waiting in waiting {
        took.push(waiting.await.unwrap());
    }
    println!("in after {took:?} of a lease of {LEASE:?}");
    for took in took {
        assert!(
            took < generous(LEASE + Duration::from_millis(1500)),
            "too late: {took:?}"
        );
    }
}
