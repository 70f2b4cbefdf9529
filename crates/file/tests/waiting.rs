//! Many who wait cost little. Alone in its process, for that is what is measured.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used)]

use lockwork_core::lock::{Guard, Locks};
use lockwork_file::Files;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::{path::Path, time::Duration};
use tokio::task::JoinSet;

const MANY: usize = 1000;
const MEASURED: Duration = Duration::from_secs(3);

/// A number from a file of `/proc/self`.
fn read_calls() -> u64 {
    let text = std::fs::read_to_string("/proc/self/io").unwrap();
    let line = text.lines().find_map(|line| line.strip_prefix("syscr: "));
    line.unwrap().parse().unwrap()
}

fn threads() -> usize {
    std::fs::read_dir("/proc/self/task").unwrap().count()
}

/// Time the processor has spent on this process.
fn busy() -> Duration {
    let text = std::fs::read_to_string("/proc/self/schedstat").unwrap();
    // Of the main thread only; the others' are beside it.
    let tasks = std::fs::read_dir("/proc/self/task").unwrap();
    let of = |text: &str| text.split(' ').next().unwrap().parse::<u64>().unwrap();
    let stats = tasks.filter_map(|task| {
        let path = task.unwrap().path().join("schedstat");
        std::fs::read_to_string(path).ok()
    });
    let sum: u64 = stats.map(|text| of(&text)).sum();
    Duration::from_nanos(sum.max(of(&text)))
}

/// Each try to take a mutex, or to become the writer, that finds it taken reads the file's record
/// once, and nothing else reads: so calls that read are tries, or more.
async fn tries_stay_few(names: usize) {
    // Whoever has just begun may try a few times.
    tokio::time::sleep(Duration::from_millis(500)).await;
    let (used, read) = (busy(), read_calls());
    tokio::time::sleep(MEASURED).await;
    let (read, used) = (read_calls() - read, busy() - used);
    let most = 2 * names as u64 * MEASURED.as_secs() + 20;
    println!(
        "{names} names: {read} reads, {used:?} of {MEASURED:?} busy, {} threads",
        threads()
    );
    assert!(read <= most, "{read} reads in {MEASURED:?}");
    assert!(used < MEASURED / 2, "busy for {used:?}");
    // The runtime's, the keeper's, the watcher's, and some that wait for the disk now and then.
    assert!(threads() < 20, "{} threads", threads());
}

fn client(path: &Path) -> Locks {
    Locks::with_tenure(Files::open(path).unwrap(), Duration::ZERO)
}

/// Descriptors for all of these; what is needed otherwise, if there are not enough.
fn enough_descriptors() -> Result<(), String> {
    let limit = getrlimit(Resource::Nofile);
    let enough = |limit: Option<u64>| limit.is_none_or(|limit| limit > 4 * MANY as u64);
    let raised = Rlimit {
        current: limit.maximum,
        maximum: limit.maximum,
    };
    if enough(limit.current) || enough(limit.maximum) && setrlimit(Resource::Nofile, raised).is_ok()
    {
        return Ok(());
    }
    Err(format!("{} open files are not allowed", 4 * MANY))
}

async fn all_get_in(mut waiting: JoinSet<()>) {
    let all = async { while waiting.join_next().await.is_some_and(|done| done.is_ok()) {} };
    tokio::time::timeout(Duration::from_secs(20), all)
        .await
        .expect("all are in: not within 20 s");
    assert!(waiting.is_empty());
}

async fn one_name(holder: &Locks, other: &Locks) {
    let guard = holder.mutex("one").lock().await.unwrap();
    let mut waiting = JoinSet::new();
    for _ in 0..MANY {
        let next = other.mutex("one");
        waiting.spawn(async move { drop(next.lock().await.unwrap()) });
    }
    tries_stay_few(1).await;
    drop(guard);
    all_get_in(waiting).await;
}

async fn many_names(holder: &Locks, other: &Locks) {
    let mut guards: Vec<Guard> = Vec::new();
    let mut waiting = JoinSet::new();
    for number in 0..MANY {
        let name = number.to_string();
        guards.push(holder.mutex(&name).lock().await.unwrap());
        let next = other.mutex(&name);
        waiting.spawn(async move { drop(next.lock().await.unwrap()) });
    }
    tries_stay_few(MANY).await;
    drop(guards);
    all_get_in(waiting).await;
}

/// Where there is an upgradeable reader, and nobody has ever read or written.
async fn writers_behind_an_upgradeable_reader(holder: &Locks, other: &Locks) {
    let mut guards: Vec<Guard> = Vec::new();
    let mut waiting = JoinSet::new();
    for number in 0..100 {
        let name = number.to_string();
        guards.push(holder.rw_lock(&name).upgradeable_read().await.unwrap());
        let next = other.rw_lock(&name);
        waiting.spawn(async move { drop(next.write().await.unwrap()) });
    }
    tries_stay_few(100).await;
    drop(guards);
    all_get_in(waiting).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_waits_tries_twice_a_second_at_most_and_needs_no_thread() {
    if let Err(why) = enough_descriptors() {
        println!("skipped: {why}");
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("locks");
    let (holder, other) = (client(&path), client(&path));
    one_name(&holder, &other).await;
    many_names(&holder, &other).await;
    writers_behind_an_upgradeable_reader(&holder, &other).await;
}
