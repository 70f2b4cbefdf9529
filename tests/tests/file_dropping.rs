//! Futures dropped half way leave no descriptor open and no file locked. Alone in its process,
//! whose descriptors are counted.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used)]

use lockwork::{Guard, Locks, Result, file::Files};
use lockwork_conformance::poll_at_most;
use rand::RngExt;
use std::{
    future::Future,
    path::Path,
    process::{Child, Command, Stdio},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

const DROPS: usize = 20_000;
const TASKS: usize = 16;

/// Polls `work` at most `polls` times and for two milliseconds, then drops it; whether it was done.
async fn attempt(polls: u32, work: impl Future<Output = Result<Guard>>) -> bool {
    let done = poll_at_most(polls, work);
    let done = tokio::time::timeout(Duration::from_millis(2), done).await;
    let granted = done.ok().flatten().map(Result::unwrap);
    if granted.is_some() {
        // Others come meanwhile and must wait.
        for _ in 0..16 {
            tokio::task::yield_now().await;
        }
    }
    granted.is_some()
}

async fn drop_one(locks: &Locks) -> bool {
    let random = |most: u32| rand::rng().random_range(0..most);
    let name = random(2).to_string();
    let (polls, kind) = (random(5) + 1, random(6));
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
            attempt(polls, upgraded).await
        }
        _ => attempt(polls, locks.semaphore(&name, 2).acquire()).await,
    }
}

fn descriptors() -> usize {
    // Without the one that reads this.
    std::fs::read_dir("/proc/self/fd").unwrap().count() - 1
}

/// How many lock files somebody has locked.
fn locked(directory: &Path) -> usize {
    let entries = std::fs::read_dir(directory).unwrap();
    let files = entries.map(|entry| std::fs::File::open(entry.unwrap().path()).unwrap());
    files.filter(|file| file.try_lock().is_err()).count()
}

/// What is left for longer stays, so it is wrong. What goes before that was slow.
const STAYS: Duration = Duration::from_secs(10);

/// Waits until no more descriptors are open than before, and says how many are: fewer, if somebody was just looking
/// through the directory when they were counted first.
async fn nothing_left(directory: &Path, before: usize) -> usize {
    let (start, limit) = (Instant::now(), Duration::from_secs(2));
    let mut was_slow = false;
    let open = loop {
        let left = (descriptors(), locked(directory));
        if left.0 <= before && left.1 == 0 {
            break left.0;
        }
        let after = start.elapsed();
        assert!(after < STAYS, "{left:?}, {before} before");
        was_slow = after >= limit;
        tokio::time::sleep(Duration::from_millis(5)).await;
    };
    let after = start.elapsed();
    assert!(
        !was_slow,
        "what was left is gone after {after:?}, allowed {limit:?}"
    );
    open
}

async fn drop_many(clients: &[Locks; 2]) {
    let dropped = Arc::new(AtomicUsize::new(0));
    let tasks: Vec<_> = (0..TASKS)
        .map(|task| {
            let (locks, dropped) = (clients[task % 2].clone(), dropped.clone());
            tokio::spawn(async move {
                let mut granted = 0;
                // Together: the last one left would be granted everything.
                while dropped.load(Ordering::Relaxed) < DROPS {
                    match drop_one(&locks).await {
                        true => granted += 1,
                        false => _ = dropped.fetch_add(1, Ordering::Relaxed),
                    }
                }
                granted
            })
        })
        .collect();
    let mut granted = 0;
    for task in tasks {
        let done = tokio::time::timeout(Duration::from_secs(60), task).await;
        granted += done.expect("all are dropped: not within 60 s").unwrap();
    }
    println!("{DROPS} futures dropped half way, {granted} others granted");
    assert!(granted > DROPS / 100, "{granted}: this proves nothing");
}

/// Another process that takes the same mutex without end.
fn contend(directory: &Path) -> Child {
    let url = format!("file://{}", directory.display());
    let mut child = Command::new(env!("CARGO_BIN_EXE_contender"));
    child.args([&url, "mutex", "0", "1000000000"]);
    child.stdin(Stdio::null()).stdout(Stdio::null());
    child.spawn().unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn futures_dropped_half_way_leave_no_descriptor_and_no_lock() {
    let directory = tempfile::tempdir().unwrap();
    let client = || Locks::new(Files::open(directory.path()).unwrap());
    let clients = [client(), client()];
    for client in &clients {
        let warm = client.mutex("warm").lock().await.unwrap();
        warm.release().await.unwrap();
    }
    let before = descriptors();
    drop_many(&clients).await;
    let before = nothing_left(directory.path(), before).await;

    let mut other = contend(directory.path());
    drop_many(&clients).await;
    other.kill().unwrap();
    other.wait().unwrap();
    drop(other);
    nothing_left(directory.path(), before).await;
}
