//! Giving up half way, on purpose.

use lockwork::{Guard, Locks, Result};
use rand::RngExt;
use std::{
    future::Future,
    pin::pin,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    task::Poll,
    time::Duration,
};
use tokio::task::JoinSet;

/// Polls `work` at most `polls` times, as often as it wakes; then drops it.
pub async fn poll_at_most<T>(polls: u32, work: impl Future<Output = T>) -> Option<T> {
    let (mut work, mut left) = (pin!(work), polls);
    std::future::poll_fn(|cx| {
        if left == 0 {
            return Poll::Ready(None);
        }
        left -= 1;
        match work.as_mut().poll(cx) {
            Poll::Pending if left == 0 => Poll::Ready(None),
            polled => polled.map(Some),
        }
    })
    .await
}

/// How many tasks give up at the same time.
const TASKS: usize = 64;

/// Asks for so many locks of forty names, in every mode, and gives up most of them half way; how many
/// it got, and gave back.
pub async fn drop_many(locks: &Locks, count: usize) -> usize {
    let rest = Arc::new(AtomicUsize::new(count));
    let mut tasks = JoinSet::new();
    for _ in 0..TASKS {
        let (locks, rest) = (locks.clone(), rest.clone());
        tasks.spawn(async move {
            let (mut done, one_less) = (0, |left: usize| left.checked_sub(1));
            let order = Ordering::SeqCst;
            while rest.fetch_update(order, order, one_less).is_ok() {
                done += usize::from(drop_one(&locks).await);
            }
            done
        });
    }
    tasks.join_all().await.into_iter().sum()
}

async fn drop_one(locks: &Locks) -> bool {
    let random = |most: u32| rand::rng().random_range(0..most);
    let name = random(40).to_string();
    let (polls, kind) = (random(4) + 1, random(6));
    let (mutex, rw_lock) = (locks.mutex(&name), locks.rw_lock(&name));
    match kind {
        0 | 1 => is_done(polls, mutex.lock()).await,
        2 => is_done(polls, rw_lock.read()).await,
        3 => is_done(polls, rw_lock.write()).await,
        4 => {
            let upgraded = async {
                let mut guard = rw_lock.upgradeable_read().await?;
                guard.upgrade().await?;
                Ok(guard)
            };
            is_done(polls * 2, upgraded).await
        }
        _ => {
            let semaphore = locks.semaphore(&name, 2);
            is_done(polls, semaphore.acquire()).await
        }
    }
}

/// Polls `work` at most `polls` times and for twenty milliseconds, then drops it; whether it was done.
async fn is_done(polls: u32, work: impl Future<Output = Result<Guard>>) -> bool {
    let done = poll_at_most(polls, work);
    let done = tokio::time::timeout(Duration::from_millis(20), done).await;
    done.ok().flatten().map(Result::unwrap).is_some()
}
