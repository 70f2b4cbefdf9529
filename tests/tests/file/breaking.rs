//! Somebody takes locks away or clears up, and those who wait must hear of it all the same.

use crate::directory::Directory;
use lockwork::{Guard, Locks};
use lockwork_conformance::generous;
use std::time::Duration;
use tokio::task::JoinHandle;

const SOON: Duration = Duration::from_millis(100);

/// Somebody who has begun to wait for the only permit.
async fn waiter(locks: Locks) -> JoinHandle<Guard> {
    let waiting = tokio::spawn(async move { locks.semaphore("x", 1).acquire().await.unwrap() });
    tokio::time::sleep(Duration::from_millis(50)).await;
    waiting
}

async fn is_in_soon(waiting: JoinHandle<Guard>) -> Guard {
    let granted = tokio::time::timeout(generous(SOON), waiting).await;
    granted.expect("it is in: not within 100 ms").unwrap()
}

#[tokio::test]
async fn a_permit_given_back_is_told_though_idle_files_were_removed_meanwhile() {
    let directory = Directory::new();
    let (holder, other) = (directory.client(), directory.client());
    for _ in 0..5 {
        let guard = holder.semaphore("x", 1).acquire().await.unwrap();
        other.collect(Duration::ZERO).await.unwrap();
        let waiting = waiter(other.clone()).await;
        guard.release().await.unwrap();
        drop(is_in_soon(waiting).await);
    }
}

#[tokio::test]
async fn a_permit_given_back_is_told_though_its_gate_was_removed_meanwhile() {
    let directory = Directory::new();
    let (holder, other) = (directory.client(), directory.client());
    for _ in 0..5 {
        let guard = holder.semaphore("x", 1).acquire().await.unwrap();
        let files = directory.files();
        let gate = |path: &&std::path::PathBuf| path.to_str().unwrap().contains(".gate.");
        std::fs::remove_file(files.iter().find(gate).unwrap()).unwrap();
        let waiting = waiter(other.clone()).await;
        guard.release().await.unwrap();
        drop(is_in_soon(waiting).await);
    }
}

#[tokio::test]
async fn nothing_of_a_semaphore_is_left_once_it_is_idle() {
    let directory = Directory::new();
    let locks = directory.client();
    drop(locks.semaphore("x", 2).acquire().await.unwrap());
    drop(locks.rw_lock("x").write().await.unwrap());
    locks.collect(Duration::ZERO).await.unwrap();
    assert_eq!(directory.files().len(), 0);
}

/// Who waits is neither the one who breaks nor the one who held.
#[tokio::test]
async fn whoever_waits_for_a_semaphore_is_in_soon_after_it_was_broken() {
    let directory = Directory::new();
    let [holder, breaker, other] = [(); 3].map(|()| directory.client());
    for _ in 0..5 {
        let guard = holder.semaphore("x", 1).acquire().await.unwrap();
        let waiting = waiter(other.clone()).await;
        let broken = breaker.semaphore("x", 1).break_lock("a test").await;
        assert_eq!(broken.unwrap(), 1);
        drop(is_in_soon(waiting).await);
        assert!(!guard.is_valid());
    }
}

#[tokio::test]
async fn whoever_waits_to_write_is_in_soon_after_a_reader_was_broken() {
    let directory = Directory::new();
    let [holder, breaker, other] = [(); 3].map(|()| directory.client());
    for _ in 0..5 {
        let reader = holder.rw_lock("x").read().await.unwrap();
        let writer = other.rw_lock("x");
        let waiting = tokio::spawn(async move { writer.write().await.unwrap() });
        tokio::time::sleep(Duration::from_millis(50)).await;
        breaker.rw_lock("x").break_lock("a test").await.unwrap();
        let guard = is_in_soon(waiting).await;
        let told = tokio::time::timeout(generous(SOON), reader.lost()).await;
        assert!(told.is_ok(), "it is told: not within 100 ms");
        assert!(guard.is_valid());
    }
}

/// Tokens rise across breaking, collecting and both at once.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tokens_rise_while_locks_are_broken_and_collected() {
    let directory = Directory::in_memory();
    let (locks, other) = (directory.client(), directory.client());
    let nuisance = tokio::spawn(async move {
        loop {
            other.mutex("x").break_lock("a test").await.unwrap();
            other.collect(Duration::ZERO).await.unwrap();
            tokio::task::yield_now().await;
        }
    });
    let mut last = None;
    for _ in 0..10_000 {
        let guard = locks.mutex("x").lock().await.unwrap();
        let token = guard.token();
        assert!(token > last, "{token:?} after {last:?}");
        last = token;
    }
    nuisance.abort();
    let ended = nuisance.await.unwrap_err();
    assert!(ended.is_cancelled(), "{ended}");
}
