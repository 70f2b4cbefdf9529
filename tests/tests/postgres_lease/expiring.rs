//! Leases end by the server's clock, and what comes after has a higher token.

use crate::{LONG, database, node, request};
use lockwork::{Backend, Hold, LockOptions, Locks, Loss};
use lockwork_conformance::{Harness, Taker, generous};
use std::time::{Duration, Instant};

#[tokio::test]
async fn tokens_rise_across_leases_that_ran_out() {
    let database = database();
    let (one, two) = (node(&database, LONG).await, node(&database, LONG).await);
    let (one, two) = (Locks::new(one), Locks::new(two));
    let short = LockOptions::new()
        .lease(Duration::from_secs(1))
        .renew(false);
    // Nobody gives any of them back: each ends by itself.
    let (mut token, mut guards) = (None, Vec::new());
    for _ in 0..3 {
        for locks in [&one, &two] {
            let guard = locks.mutex("x").lock_with(short).await.unwrap().unwrap();
            assert!(guard.token() > token, "{:?} after {token:?}", guard.token());
            token = guard.token();
            assert_eq!(guard.lost().await, Loss::Expired);
            guards.push(guard);
        }
    }
}

#[tokio::test]
async fn the_servers_clock_alone_says_when_a_lease_ends() {
    let database = database();
    let (one, two) = (node(&database, LONG).await, node(&database, LONG).await);
    let held = one.acquire(request("x")).await.unwrap().expect("free");
    assert!(two.acquire(request("x")).await.unwrap().is_none());
    // To us it has half a minute to go; to the server it has ended.
    database.run("UPDATE lockwork.lease SET expires = clock_timestamp()");
    let next = two.acquire(request("x")).await.unwrap().expect("ended");
    assert!(next.token() > held.token());
    held.release().await.unwrap();
    assert!(one.acquire(request("x")).await.unwrap().is_none());
    next.release().await.unwrap();

    let mut short = request("y");
    (short.lease, short.renew) = (Some(Duration::from_secs(1)), false);
    let held = one.acquire(short).await.unwrap().expect("free");
    database.run("UPDATE lockwork.lease SET expires = clock_timestamp() + interval '1 hour'");
    held.lost().await;
    // To us it has ended; to the server it has an hour to go.
    assert!(two.acquire(request("y")).await.unwrap().is_none());
    held.release().await.unwrap();
    assert!(two.acquire(request("y")).await.unwrap().is_some());
}

#[tokio::test]
async fn the_shortest_lease_is_a_second() {
    let database = database();
    let node = node(&database, LONG).await;
    let mut short = request("x");
    short.lease = Some(Duration::from_millis(1));
    let held = node.acquire(short).await.unwrap().expect("free");
    let left = held.valid_until().unwrap().remaining();
    assert!(left > Duration::from_millis(500), "{left:?}");
    held.release().await.unwrap();
}

#[tokio::test]
async fn a_frozen_holder_loses_and_knows_it_when_it_wakes() {
    let database = database();
    let locks = Locks::new(node(&database, LONG).await);
    let taker = env!("CARGO_BIN_EXE_taker").as_ref();
    let mut other = Taker::start(taker, &database.url().unwrap()).await;
    let theirs = other.lock("x").await;
    other.watch(Duration::from_millis(700)).await;
    other.freeze();
    let begun = Instant::now();
    let guard = locks.mutex("x").lock().await.unwrap();
    let (waited, allowed) = (begun.elapsed(), generous(database.takeover()));
    assert!(waited < allowed, "{waited:?}, allowed {allowed:?}");
    assert!(guard.token() > theirs);
    tokio::time::sleep(Duration::from_millis(800)).await;
    other.thaw();
    let (valid, lost) = other.look_after_gap().await;
    assert!(
        !valid && lost,
        "a frozen holder believed in its lock when it woke"
    );
    assert!(guard.is_valid());
    let holders = locks.mutex("x").holders().await.unwrap().holders;
    assert_eq!(holders.len(), 1);
    assert_eq!(holders[0].token, guard.token());
}
