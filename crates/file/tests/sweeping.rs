//! Names that are used once leave nothing, though nobody clears up. `LOCKWORK_NAMES` says how many.
#![allow(clippy::unwrap_used)]

use lockwork_core::lock::Locks;
use lockwork_file::Files;
use std::{
    path::Path,
    time::{Duration, Instant},
};

const IDLE: Duration = Duration::from_millis(300);

fn names() -> u32 {
    let said = std::env::var("LOCKWORK_NAMES").ok();
    said.map_or(100_000, |said| {
        said.parse().expect("LOCKWORK_NAMES is a number")
    })
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn names_used_once_leave_nothing() {
    // Where there is one, a directory that costs no disk its life.
    let memory = Path::new("/dev/shm");
    let directory = if memory.is_dir() {
        tempfile::tempdir_in(memory)
    } else {
        tempfile::tempdir()
    };
    let directory = directory.unwrap();
    let path = directory.path().join("locks");
    let locks = Locks::new(Files::options().idle(IDLE).open(&path).unwrap());
    let start = Instant::now();
    for number in 0..names() {
        let guard = locks.mutex(format!("used once {number}")).lock().await;
        guard.unwrap().release().await.unwrap();
    }
    let used = start.elapsed();
    // A few sweeps' time, and what removing so many files may take.
    let limit = Duration::from_secs(10) + used;
    while std::fs::read_dir(&path).unwrap().next().is_some() {
        let left = std::fs::read_dir(&path).unwrap().count();
        assert!(
            start.elapsed() < used + limit,
            "{left} files are left: not within {limit:?}"
        );
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    println!(
        "{} names in {used:?}, none left {:?} later",
        names(),
        start.elapsed() - used
    );
}
