//! Processes that are killed and frozen.

use crate::{
    AT_ONCE, LEASE, SOON, generous,
    place::{Place, SHORT_LEASE},
    taker, wait_for, within,
};
use std::time::{Duration, Instant};

const TIMES: usize = 20;

#[tokio::test]
async fn the_next_one_is_in_within_250_ms_of_a_kill_twenty_times_out_of_twenty() {
    let place = Place::sql_server();
    let mut guest = place.guest().await;
    let here = place.client().await;
    let (mut worst, mut last) = (Duration::ZERO, None);
    for _ in 0..TIMES {
        let mut other = taker(&place.url("tenure=0s")).await;
        let theirs = within(SOON, "they hold it", other.lock("x")).await;
        assert!(theirs > last, "{theirs:?} after {last:?}");
        let waiting = wait_for(&here, "x");
        guest.until_waiting(1).await;
        let killed = Instant::now();
        other.kill().await;
        let (guard, granted) = within(SOON, "the next one gets in", waiting).await.unwrap();
        let took = granted.saturating_duration_since(killed);
        assert!(took < generous(AT_ONCE), "too late: {took:?}");
        worst = worst.max(took);
        assert!(guard.token() > theirs);
        last = guard.token();
        guard.release().await.unwrap();
    }
    println!("{TIMES} of {TIMES} within {AT_ONCE:?}, the slowest after {worst:?}");
}

#[tokio::test]
async fn a_process_that_is_killed_while_it_waits_leaves_its_place_in_the_line() {
    let place = Place::sql_server();
    let mut guest = place.guest().await;
    let here = place.client().await;
    let guard = here.mutex("x").lock().await.unwrap();
    let mut others = Vec::new();
    for number in 1..=3 {
        let mut other = taker(&place.url("tenure=0s")).await;
        other.begin_lock("x").await;
        guest.until_waiting(number).await;
        others.push(other);
    }
    let mut last = others.pop().unwrap();
    for other in others {
        other.kill().await;
    }
    within(AT_ONCE, "their places are free", guest.until_waiting(1)).await;
    guard.release().await.unwrap();
    within(AT_ONCE, "who lives gets in", last.token()).await;
    last.kill().await;
    guest.until_nothing_is_left().await;
}

#[tokio::test]
async fn nobody_is_in_while_a_holder_is_frozen_and_the_next_one_once_it_wakes_and_has_lost() {
    let place = Place::sql_server();
    let mut guest = place.guest().await;
    let here = place.client().await;
    let mut other = taker(&place.url(SHORT_LEASE)).await;
    let theirs = within(SOON, "they hold it", other.lock("x")).await;
    other.watch(Duration::from_millis(500)).await;
    let waiting = wait_for(&here, "x");
    guest.until_waiting(1).await;
    other.freeze();
    tokio::time::sleep(LEASE * 3 / 2).await;
    assert!(!waiting.is_finished(), "the server keeps it for them");
    assert_eq!(guest.held().await, 1);
    other.thaw();
    let thawed = Instant::now();
    let (valid, lost) = within(SOON, "they look", other.look_after_gap()).await;
    assert!(!valid && lost, "valid {valid}, told {lost}");
    let (guard, granted) = within(SOON, "the next one gets in", waiting).await.unwrap();
    println!(
        "the next one was in {:?} after a frozen holder woke up",
        granted.saturating_duration_since(thawed)
    );
    assert!(guard.token() > theirs);
}

/// What it was granted while it stood still is too old to be believed.
#[tokio::test]
async fn a_process_that_was_frozen_while_it_waited_does_not_take_an_old_grant_for_a_new_one() {
    let place = Place::sql_server();
    let mut guest = place.guest().await;
    let here = place.client().await;
    let guard = here.mutex("x").lock().await.unwrap();
    let mut other = taker(&place.url(SHORT_LEASE)).await;
    other.begin_lock("x").await;
    guest.until_waiting(1).await;
    let waiting = guest.ports_that(false).await;
    other.freeze();
    guard.release().await.unwrap();
    assert_eq!(guest.ports_that(true).await, waiting);
    tokio::time::sleep(LEASE * 3 / 2).await;
    other.thaw();
    within(SOON, "they have it", other.token()).await;
    assert_ne!(
        guest.ports_that(true).await,
        waiting,
        "it was asked for anew"
    );
    other.kill().await;
    guest.until_nothing_is_left().await;
}
