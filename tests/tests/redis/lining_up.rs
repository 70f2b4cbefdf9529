//! First come, first served, among processes; and those in line who do not come.

use crate::{SOON, client, server, taker, until_waiting, within};
use lockwork::{Guard, Locks};
use lockwork_conformance::{Taker, generous};
use lockwork_servers::Redis;
use std::time::{Duration, Instant};

/// For so long the lock is kept for the one whose turn it is, and a moment more.
const TURN: Duration = Duration::from_millis(1100);

/// A lock that we hold, and three processes that wait for it, one after another.
async fn line(server: &Redis, here: &Locks) -> (Guard, [Taker; 3]) {
    let guard = here.mutex("x").lock().await.unwrap();
    let mut others = [
        taker(server).await,
        taker(server).await,
        taker(server).await,
    ];
    for (number, other) in others.iter_mut().enumerate() {
        other.begin_lock("x").await;
        until_waiting(here, "x", number + 1).await;
    }
    (guard, others)
}

#[tokio::test]
async fn who_waits_longest_is_next() {
    let server = server();
    let here = client(server.port()).await;
    for _ in 0..3 {
        let (guard, mut others) = line(&server, &here).await;
        let mut last = guard.token();
        guard.release().await.unwrap();
        for other in &mut others {
            let token = within(SOON, "its turn", other.token()).await;
            assert!(token > last, "{token:?} after {last:?}");
            last = token;
            other.release().await;
        }
    }
}

#[tokio::test]
async fn one_who_is_frozen_in_its_turn_keeps_the_others_for_a_second_and_comes_in_later() {
    let server = server();
    let here = client(server.port()).await;
    let (guard, [mut first, mut second, mut third]) = line(&server, &here).await;
    first.freeze();
    let released = Instant::now();
    guard.release().await.unwrap();
    let token = within(SOON, "the second is in", second.token()).await;
    let waited = released.elapsed();
    println!("behind one that is frozen: {waited:?}");
    assert!(waited < generous(TURN), "too late: {waited:?}");
    first.thaw();
    second.release().await;
    let next = within(SOON, "the third is in", third.token()).await;
    assert!(next > token);
    third.release().await;
    let last = within(SOON, "the first is in", first.token()).await;
    assert!(last > token);
}

#[tokio::test]
async fn one_who_is_killed_in_line_keeps_the_others_for_a_second() {
    let server = server();
    let here = client(server.port()).await;
    let (guard, [first, mut second, mut third]) = line(&server, &here).await;
    first.kill().await;
    let released = Instant::now();
    guard.release().await.unwrap();
    within(SOON, "the second is in", second.token()).await;
    let waited = released.elapsed();
    println!("behind one that was killed: {waited:?}");
    assert!(waited < generous(TURN), "too late: {waited:?}");
    let released = Instant::now();
    second.release().await;
    within(SOON, "the third is in", third.token()).await;
    let waited = released.elapsed();
    println!("and nobody after that: {waited:?}");
    assert!(
        waited < generous(Duration::from_millis(200)),
        "too late: {waited:?}"
    );
}
