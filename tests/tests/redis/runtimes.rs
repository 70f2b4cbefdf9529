//! Runtimes that end, stand still or are kept busy under locks that were connected on them.

use crate::{LEASE, SOON, client, key, left, options, server, within, works};
use lockwork::{Guard, Locks};
use lockwork_conformance::{generous, poll_at_most};
use lockwork_servers::Redis;
use std::{
    sync::OnceLock,
    thread,
    time::{Duration, Instant},
};
use tokio::runtime::{Builder, Runtime};

/// Longer than a question is waited for that a runtime took with it.
const GIVEN_UP: Duration = Duration::from_secs(3);

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
        assert!(
            start.elapsed() < generous(Duration::from_millis(500)),
            "too late"
        );
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

/// Locks of a runtime that stands still, on which the lock called as `turns` says was asked for and
/// given up. For so many turns the question was on its way there.
fn given_up(server: &Redis, turns: usize) -> (Runtime, Locks) {
    let runtime = runtime();
    let locks = runtime.block_on(crate::locks(options(server.port()).lease(SOON)));
    runtime.block_on(works(&locks, "warm"));
    let mutex = locks.mutex(turns.to_string());
    let mut acquiring = Box::pin(mutex.lock());
    runtime.block_on(async {
        let polled = poll_at_most(1, acquiring.as_mut()).await;
        assert!(polled.is_none(), "it takes an answer");
        for _ in 0..turns {
            tokio::task::yield_now().await;
        }
    });
    drop(acquiring);
    (runtime, locks)
}

#[test]
fn an_acquire_given_up_on_a_runtime_that_stands_still_leaves_nothing() {
    let server = server();
    let start = Instant::now();
    let all: Vec<_> = (0..10).map(|turns| given_up(&server, turns)).collect();
    let granted = until(LEASE, "some are granted", || !left(&server).is_empty());
    println!("{} were granted after {granted:?}", left(&server).len());
    until(GIVEN_UP, "nothing is left", || left(&server).is_empty());
    println!("nothing was left after {:?}", start.elapsed());
    thread::sleep(GIVEN_UP.saturating_sub(start.elapsed()));
    for (runtime, locks) in &all {
        // What was asked there must not be granted late.
        runtime.block_on(async { tokio::time::sleep(Duration::from_millis(50)).await });
        assert!(left(&server).is_empty(), "{:?}", left(&server));
        runtime.block_on(works(locks, "x"));
    }
}

#[test]
fn a_wait_given_up_on_a_runtime_that_stands_still_is_not_served_when_that_goes_on() {
    let server = server();
    let other = runtime();
    let there = other.block_on(client(server.port()));
    let mut guards = Vec::new();
    for turns in 0..10 {
        let mutex = there.mutex(turns.to_string());
        guards.push(other.block_on(mutex.lock()).unwrap());
    }
    let all: Vec<_> = (0..10).map(|turns| given_up(&server, turns)).collect();
    // By then each was asked for once more, elsewhere, and refused.
    thread::sleep(GIVEN_UP);
    for guard in guards {
        other.block_on(guard.release()).unwrap();
    }
    assert!(left(&server).is_empty(), "{:?}", left(&server));
    for (turns, (runtime, locks)) in all.iter().enumerate() {
        runtime.block_on(async { tokio::time::sleep(Duration::from_millis(50)).await });
        assert!(left(&server).is_empty(), "{:?}", left(&server));
        other.block_on(works(&there, &turns.to_string()));
        runtime.block_on(works(locks, &turns.to_string()));
    }
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
