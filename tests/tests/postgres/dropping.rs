//! Futures dropped half way, twenty thousand of them.

use crate::{SOON, advisory_locks, client, locks, options, server, until, within};
use lockwork::{Guard, Locks, Result};
use lockwork_conformance::poll_at_most;
use rand::RngExt;
use std::{
    future::Future,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

const DROPS: usize = 20_000;
const TASKS: usize = 64;

/// Polls `work` at most `polls` times and for five milliseconds, then drops it; whether it was done.
async fn attempt(polls: u32, work: impl Future<Output = Result<Guard>>) -> bool {
    let done = poll_at_most(polls, work);
    let done = tokio::time::timeout(Duration::from_millis(5), done).await;
    done.ok().flatten().map(Result::unwrap).is_some()
}

async fn drop_one(locks: &Locks) -> bool {
    let random = |most: u32| rand::rng().random_range(0..most);
    let name = random(40).to_string();
    let (polls, kind) = (random(4) + 1, random(5));
    let (mutex, rw_lock) = (locks.mutex(&name), locks.rw_lock(&name));
    match kind {
        0 | 1 => attempt(polls, mutex.lock()).await,
        2 => attempt(polls, rw_lock.read()).await,
        3 => attempt(polls, rw_lock.write()).await,
        _ => {
            let semaphore = locks.semaphore(&name, 2);
            attempt(polls, semaphore.acquire()).await
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn twenty_thousand_dropped_acquires_leave_no_lock_no_waiter_and_a_usable_connection() {
    let server = server(&[]);
    let backend = options(&server.url()).connect().await.unwrap();
    let (here, there) = (locks(backend.clone()), client(&server.url()).await);
    // Some of the names are somebody else's, so that there is waiting as well.
    let mut theirs = Vec::new();
    for number in 0..10 {
        theirs.push(there.mutex(number.to_string()).lock().await.unwrap());
        theirs.push(there.rw_lock(number.to_string()).read().await.unwrap());
    }
    let left = Arc::new(AtomicUsize::new(DROPS));
    let tasks: Vec<_> = (0..TASKS)
        .map(|_| {
            let (here, left) = (here.clone(), left.clone());
            tokio::spawn(async move {
                let mut done = 0_usize;
                let more =
                    || left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |n| n.checked_sub(1));
                while more().is_ok() {
                    done += usize::from(drop_one(&here).await);
                }
                done
            })
        })
        .collect();
    let mut done = 0;
    for task in tasks {
        done += within(Duration::from_secs(120), "all are dropped", task)
            .await
            .unwrap();
    }
    drop(theirs);
    until(SOON, "nothing is left", || advisory_locks(&server) == 0).await;
    println!(
        "{DROPS} acquires, {} of them dropped half way: nothing is left",
        DROPS - done
    );
    assert!(done > 0 && done < DROPS, "{done}");
    drop(
        within(SOON, "a lock", here.mutex("x").lock())
            .await
            .unwrap(),
    );
    assert!(backend.connections() <= 2, "{}", backend.connections());
}
