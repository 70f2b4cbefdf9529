//! A store that is away for a while: the node stays, says so, and goes on by itself.

use crate::{
    asked,
    counters::{self, agree_with_their_journals, one},
    left::until_nothing_is_left,
};
use lockwork::{
    runtime::{LocalRuntime, Store},
    workflow::{Error, ErrorKind, InstanceId},
};
use lockwork_conformance::within;
use lockwork_servers::{Postgres, Settings};
use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    time::{Duration, Instant},
};
use tokio_util::{sync::CancellationToken, task::AbortOnDropHandle};

/// How long it is away.
fn away() -> Duration {
    Duration::from_secs(asked("LOCKWORK_AWAY", 5))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_goes_on_when_a_server_that_was_stopped_is_back() {
    let server = Arc::new(Postgres::start(Settings::new()).unwrap());
    let url = format!("{}?sslmode=disable", server.url());
    let store = lockwork::store::connect(&url).await.unwrap();
    let (gone, back) = (Arc::clone(&server), Arc::clone(&server));
    let kinds = outage(
        [store.clone(), store],
        move || gone.stop().unwrap(),
        move || back.restart().unwrap(),
    );
    assert_out_of_reach(&kinds.await);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_goes_on_when_a_server_that_stood_still_does() {
    let server = Arc::new(Postgres::start(Settings::new()).unwrap());
    // Nobody waits for it until it does.
    let url = format!("{}?sslmode=disable&deadline=1s", server.url());
    let store = lockwork::store::connect(&url).await.unwrap();
    let seen = lockwork::store::connect(&format!("{}?sslmode=disable", server.url())).await;
    let (gone, back) = (Arc::clone(&server), Arc::clone(&server));
    let stores = [store, seen.unwrap()];
    let kinds = outage(stores, move || gone.freeze().unwrap(), move || back.thaw());
    // An event that the server has is told, whatever becomes of what it does: perhaps nobody is refused.
    let kinds = kinds.await;
    assert!(
        kinds.iter().all(|kind| *kind == ErrorKind::Unavailable),
        "{kinds:?}"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_goes_on_when_there_is_room_on_its_disk_again() {
    let Some(disk) = Disk::mounted() else {
        println!("not root: no file system can be filled");
        return;
    };
    let url = format!("sqlite:{}", disk.0.join("store.db").display());
    let store = lockwork::store::connect(&url).await.unwrap();
    let filler = disk.0.join("filler");
    let (full, empty) = (filler.clone(), filler);
    let kinds = outage(
        [store.clone(), store],
        move || fill(&full),
        move || fs::remove_file(&empty).unwrap(),
    );
    assert_out_of_reach(&kinds.await);
}

/// Fails unless somebody was refused, because the store was out of reach and for nothing else.
fn assert_out_of_reach(found: &[ErrorKind]) {
    let expected = |kind: &ErrorKind| *kind == ErrorKind::Unavailable;
    assert!(found.iter().all(expected), "{found:?}");
    assert!(!found.is_empty(), "nobody has noticed");
}

/// Somebody adds one again and again, and notes what is refused; meanwhile the store goes away and comes back. What was
/// refused, by its kind. The node has the first way to the store; what is left is read by the second, which has patience.
async fn outage(
    [store, seen]: [Arc<dyn Store>; 2],
    goes: impl FnOnce() + Send + 'static,
    comes: impl FnOnce() + Send + 'static,
) -> Vec<ErrorKind> {
    let node = counters::node(store);
    let counters = counters::new(&node, 4).await;
    node.start().await.unwrap();
    let (told, stop) = (Arc::new(AtomicU64::new(0)), CancellationToken::new());
    let teller = tokio::spawn(tell(
        node.clone(),
        counters.clone(),
        Arc::clone(&told),
        stop.clone(),
    ));
    let teller = AbortOnDropHandle::new(teller);
    until_more(&told, 50).await;
    tokio::task::spawn_blocking(goes).await.unwrap();
    tokio::time::sleep(away()).await;
    tokio::task::spawn_blocking(comes).await.unwrap();
    let back = Instant::now();
    until_more(&told, 50).await;
    println!("told again {:?} after the store was back", back.elapsed());
    stop.cancel();
    let kinds = within(Duration::from_secs(60), "the last one is told", teller)
        .await
        .unwrap();
    let expected = told.load(Relaxed);
    within(Duration::from_secs(60), "everything has arrived", async {
        while counters::sum(&*seen, &counters).await.unwrap() < expected {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    })
    .await;
    until_nothing_is_left(&*seen).await;
    node.drain().await;
    assert_eq!(counters::sum(&*seen, &counters).await.unwrap(), expected);
    agree_with_their_journals(&*seen, &counters).await;
    println!("{expected} events, {} refused meanwhile", kinds.len());
    kinds
}

async fn until_more(told: &AtomicU64, more: u64) {
    let before = told.load(Relaxed);
    within(Duration::from_secs(60), "somebody is told", async {
        while told.load(Relaxed) < before + more {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    })
    .await;
}

/// Tells each of the counters one after the other until stopped, each event until it is known to be sent.
async fn tell(
    node: LocalRuntime,
    counters: Vec<InstanceId>,
    told: Arc<AtomicU64>,
    stop: CancellationToken,
) -> Vec<ErrorKind> {
    let (mut kinds, mut number) = (Vec::new(), 0);
    while !stop.is_cancelled() {
        let add = one(&counters[number % counters.len()], format!("add {number}"));
        while let Err(error) = node.sender().send(add.clone()).await {
            kinds.push(Error::kind(&error));
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        number += 1;
        told.fetch_add(1, Relaxed);
    }
    kinds
}

/// A file system of thirty-two megabytes. Gone when dropped.
struct Disk(PathBuf);

impl Disk {
    fn mounted() -> Option<Self> {
        let path = std::env::temp_dir().join(format!("lockwork-{:016x}", rand::random::<u64>()));
        fs::create_dir(&path).unwrap();
        let mut mount = Command::new("mount");
        mount
            .args(["-t", "tmpfs", "-o", "size=32m", "tmpfs"])
            .arg(&path);
        match mount.status().is_ok_and(|status| status.success()) {
            true => Some(Self(path)),
            false => {
                fs::remove_dir(&path).unwrap();
                None
            }
        }
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(&self.0).status();
        let _ = fs::remove_dir(&self.0);
    }
}

/// Writes until nothing more can be written there.
fn fill(file: &Path) {
    let mut file = fs::File::create(file).unwrap();
    let zeros = [0; 4096];
    while std::io::Write::write_all(&mut file, &zeros).is_ok() {}
}
