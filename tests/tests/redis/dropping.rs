//! Futures dropped half way, twenty thousand of them.

use crate::{SOON, client, keys, left, options, server, until, within, works};
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

/// Polls `work` at most `polls` times and for twenty milliseconds, then drops it; whether it was done.
async fn attempt(polls: u32, work: impl Future<Output = Result<Guard>>) -> bool {
    let done = poll_at_most(polls, work);
    let done = tokio::time::timeout(Duration::from_millis(20), done).await;
    done.ok().flatten().map(Result::unwrap).is_some()
}

async fn drop_one(locks: &Locks) -> bool {
    let random = |most: u32| rand::rng().random_range(0..most);
    let name = random(40).to_string();
    let (polls, kind) = (random(4) + 1, random(6));
    let (mutex, rw_lock) = (locks.mutex(&name), locks.rw_lock(&name));
    match kind {
        0 | 1 => attempt(polls, mutex.lock()).await,
        2 => attempt(polls, rw_lock.read()).await,
        3 => attempt(polls, rw_lock.write()).await,
        4 => {
            let upgraded = async {
                let mut guard = rw_lock.upgradeable_read().await?;
                guard.upgrade().await?;
                Ok(guard)
            };
            attempt(polls * 2, upgraded).await
        }
        _ => {
            let semaphore = locks.semaphore(&name, 2);
            attempt(polls, semaphore.acquire()).await
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn twenty_thousand_dropped_acquires_leave_no_lock_and_no_waiter() {
    let server = server();
    let here = crate::locks(options(server.port()).lease(SOON * 2)).await;
    let there = client(server.port()).await;
    // Some of the names are somebody else's, so that there is waiting as well.
    let mut theirs = Vec::new();
    for number in 0..10 {
        theirs.push(there.mutex(number.to_string()).lock().await.unwrap());
        theirs.push(there.rw_lock(number.to_string()).read().await.unwrap());
    }
    let rest = Arc::new(AtomicUsize::new(DROPS));
    let mut tasks = tokio::task::JoinSet::new();
    for _ in 0..TASKS {
        let (here, rest) = (here.clone(), rest.clone());
        tasks.spawn(async move {
            let mut done = 0_usize;
            let more =
                || rest.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |n| n.checked_sub(1));
            while more().is_ok() {
                done += usize::from(drop_one(&here).await);
            }
            done
        });
    }
    let limit = Duration::from_secs(120);
    let done = within(limit, "all are dropped", tasks.join_all()).await;
    let done: usize = done.into_iter().sum();
    drop(theirs);
    let limit = Duration::from_secs(2);
    until(limit, "nothing is left", || left(&server).is_empty()).await;
    println!(
        "{DROPS} acquires, {} of them dropped half way: {} last tokens are left",
        DROPS - done,
        keys(&server).len()
    );
    assert!(keys(&server).iter().all(|key| key.ends_with("}:t")));
    assert!(done > 0 && done < DROPS, "{done}");
    works(&here, "x").await;
}
