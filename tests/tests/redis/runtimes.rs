//! Runtimes that end, stand still or are kept busy under locks that were connected on them.

use crate::{LEASE, SOON, client, key, keys, left, options, server, within, works};
use lockwork::{Guard, Locks};
use lockwork_conformance::{generous, poll_at_most};
use lockwork_servers::Redis;
use std::{
    sync::OnceLock,
    thread,
    time::{Duration, Instant},
};
use tokio::runtime::{Builder, Runtime};

/// How long a question that a runtime took with it is waited for, and a second more.
const GIVEN_UP: Duration = Duration::from_secs(6);

fn runtime() -> Runtime {
    Builder::new_current_thread().enable_all().build().unwrap()
}

fn until(limit: Duration, what: &str, is_so: impl Fn() -> bool) -> Duration {
    let (begun, limit) = (Instant::now(), generous(limit));
    while !is_so() {
        assert!(begun.elapsed() < limit, "not within {limit:?}: {what}");
        thread::sleep(Duration::from_millis(5));
    }
    begun.elapsed()
}

#[test]
fn locks_in_a_static_work_on_one_runtime_after_another() {
    static LOCKS: OnceLock<Locks> = OnceLock::new();
    let server = server();
    let first = runtime();
    let locks = LOCKS.get_or_init(|| first.block_on(client(server.port())));
    let held: Guard = first.block_on(async {
        works(locks, "x").await;
        locks.mutex("held").lock().await.unwrap()
    });
    drop(first);
    for _ in 0..2 {
        let next = runtime();
        let start = Instant::now();
        next.block_on(works(locks, "x"));
        assert!(start.elapsed() < generous(Duration::from_millis(500)));
    }
    // Renewed with no runtime at all.
    thread::sleep(LEASE * 3 / 2);
    assert!(held.is_valid());
    runtime().block_on(async {
        let busy = locks.mutex("held").try_lock().await.unwrap();
        assert!(busy.is_none());
        held.release().await.unwrap();
        works(locks, "held").await;
    });
}

#[test]
fn a_guard_dropped_outside_of_all_runtimes_is_released_while_its_own_stands_still() {
    let server = server();
    let runtime = runtime();
    let locks = runtime.block_on(crate::locks(options(server.port()).lease(SOON)));
    for _ in 0..5 {
        let guard = runtime.block_on(async { locks.mutex("x").lock().await.unwrap() });
        assert_eq!(left(&server), [key("x")]);
        drop(guard);
        let limit = Duration::from_millis(200);
        let took = until(limit, "it is released", || left(&server).is_empty());
        println!("released after {took:?}");
    }
}

/// Locks of a runtime that is not driven, on which a lock was asked for and given up.
fn given_up(server: &Redis, polls: u32) -> (Runtime, Locks) {
    let runtime = runtime();
    let locks = runtime.block_on(crate::locks(options(server.port()).lease(SOON)));
    runtime.block_on(works(&locks, "warm"));
    let name = format!("x{polls}");
    let given_up = runtime.block_on(poll_at_most(polls, locks.mutex(name).lock()));
    drop(given_up);
    (runtime, locks)
}

#[test]
fn an_acquire_given_up_on_a_runtime_that_stands_still_leaves_nothing() {
    let server = server();
    let all: Vec<_> = (1..4).map(|polls| given_up(&server, polls)).collect();
    let took = until(GIVEN_UP, "nothing is left", || left(&server).is_empty());
    println!("nothing was left after {took:?}");
    // What was asked there must not be granted late.
    thread::sleep((GIVEN_UP).saturating_sub(took));
    for (runtime, locks) in &all {
        runtime.block_on(async { tokio::time::sleep(Duration::from_millis(100)).await });
        assert!(left(&server).is_empty(), "{:?}", keys(&server));
        runtime.block_on(works(locks, "x1"));
    }
}

#[test]
fn a_wait_given_up_on_a_runtime_that_stands_still_is_not_served_when_that_goes_on() {
    let server = server();
    let other = runtime();
    let there = other.block_on(client(server.port()));
    let guard = other.block_on(async { there.mutex("x1").lock().await.unwrap() });
    let (sleeper, locks) = given_up(&server, 1);
    // By then it was asked for once more, elsewhere, and refused.
    thread::sleep(GIVEN_UP);
    other.block_on(guard.release()).unwrap();
    assert!(left(&server).is_empty(), "{:?}", left(&server));
    sleeper.block_on(async { tokio::time::sleep(Duration::from_millis(100)).await });
    assert!(left(&server).is_empty(), "{:?}", left(&server));
    other.block_on(works(&there, "x1"));
    sleeper.block_on(works(&locks, "x1"));
}

#[tokio::test]
async fn a_runtime_that_is_kept_busy_for_three_leases_loses_no_lock() {
    let server = server();
    let locks = client(server.port()).await;
    let guard = locks.mutex("x").lock().await.unwrap();
    thread::sleep(LEASE * 3);
    assert!(guard.is_valid());
    let there = client(server.port()).await;
    assert!(there.mutex("x").try_lock().await.unwrap().is_none());
    within(SOON, "the release", guard.release()).await.unwrap();
}
