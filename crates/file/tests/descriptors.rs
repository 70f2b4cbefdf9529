//! The limit of open files is reached. Alone in its process, whose limit it is.
#![cfg(unix)]
#![allow(clippy::unwrap_used)]

use lockwork_core::lock::{ErrorKind, Locks};
use lockwork_file::Files;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::time::Duration;

fn limit(open: u64) {
    let limit = Rlimit {
        current: Some(open),
        ..getrlimit(Resource::Nofile)
    };
    setrlimit(Resource::Nofile, limit).unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn too_many_open_files_are_an_error_until_there_are_fewer() {
    let directory = tempfile::tempdir().unwrap();
    let open = || Locks::new(Files::open(directory.path()).unwrap());
    let (locks, other) = (open(), open());
    let warm = locks.mutex("warm").lock().await.unwrap();
    // What begins to wait now has its descriptor.
    let next = other.mutex("warm");
    let waiting = tokio::spawn(async move { next.lock().await });
    tokio::time::sleep(Duration::from_millis(50)).await;
    limit(64);
    let mut held = Vec::new();
    let error = loop {
        let name = held.len().to_string();
        let asked = locks.mutex(&name);
        match tokio::time::timeout(Duration::from_secs(2), asked.lock())
            .await
            .expect("an answer: not within 2 s")
        {
            Ok(guard) => held.push(guard),
            Err(error) => break error,
        }
        assert!(held.len() < 64, "the limit is not one");
    };
    assert_eq!(error.kind(), ErrorKind::Unavailable, "{error}");
    assert!(error.to_string().contains("ulimit -n"), "{error}");
    // Giving back needs no descriptor, and neither does who already waits.
    drop(warm);
    let waited = tokio::time::timeout(Duration::from_secs(2), waiting).await;
    drop(waited.expect("it is in: not within 2 s").unwrap().unwrap());
    assert!(held.iter().all(lockwork_core::lock::Guard::is_valid));
    for mode in ["rw", "semaphore"] {
        let refused = match mode {
            "rw" => locks.rw_lock("x").write().await,
            _ => locks.semaphore("x", 2).acquire().await,
        };
        drop(refused.map_err(|error| assert_eq!(error.kind(), ErrorKind::Unavailable)));
    }
    held.clear();
    for mode in ["rw", "semaphore"] {
        match mode {
            "rw" => drop(locks.rw_lock("x").write().await.unwrap()),
            _ => drop(locks.semaphore("x", 2).acquire().await.unwrap()),
        }
    }
    drop(locks.mutex("later").lock().await.unwrap());
}
