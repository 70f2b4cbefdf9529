//! Processes that are killed and frozen while they hold a lock.

use crate::{SOON, client, server, taker, within};
use lockwork_conformance::generous;
use std::time::{Duration, Instant};

const TIMES: usize = 50;

#[tokio::test]
async fn the_next_one_is_in_within_250_ms_of_a_kill_fifty_times_out_of_fifty() {
    let server = server(&[]);
    let url = server.url();
    let here = client(&url).await;
    let limit = Duration::from_millis(250);
    let mut worst = Duration::ZERO;
    let mut last = None;
    for _ in 0..TIMES {
        let mut other = taker(&url).await;
        let theirs = within(SOON, "they hold it", other.lock("x")).await;
        assert!(theirs > last, "{theirs:?} after {last:?}");
        let waiting = tokio::spawn({
            let mutex = here.mutex("x");
            async move { mutex.lock().await.unwrap() }
        });
        crate::until(SOON, "we wait", || crate::somebody_waits(&server)).await;
        let killed = Instant::now();
        other.kill().await;
        let guard = within(SOON, "the next one gets in", waiting).await.unwrap();
        let took = killed.elapsed();
        worst = worst.max(took);
        assert!(took < generous(limit), "too late: {took:?}");
        assert!(guard.token() > theirs);
        last = guard.token();
        guard.release().await.unwrap();
    }
    println!("{TIMES} of {TIMES} within {limit:?}, the slowest after {worst:?}");
}

#[tokio::test]
async fn a_frozen_holder_wakes_to_an_invalid_guard_and_the_next_one_came_in() {
    let server = server(&[]);
    let url = format!("{}?lease=2s", server.url());
    let here = client(&server.url()).await;
    let mut other = taker(&url).await;
    let theirs = within(SOON, "they hold it", other.lock("x")).await;
    other.watch(Duration::from_millis(500)).await;
    let frozen = Instant::now();
    other.freeze();
    let guard = within(
        Duration::from_secs(5),
        "the next one gets in",
        here.mutex("x").lock(),
    )
    .await;
    println!(
        "a frozen holder was replaced after {:?} (lease 2 s)",
        frozen.elapsed()
    );
    assert!(guard.unwrap().token() > theirs);
    other.thaw();
    let (valid, lost) = within(SOON, "they look", other.look_after_gap()).await;
    assert!(!valid && lost, "valid {valid}, told {lost}");
}
