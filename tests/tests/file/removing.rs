//! Somebody removes the file of a lock that is held, without asking.

use crate::{contender::Contender, directory::Directory, stays::overlaps_end_soon};
use lockwork::Instant;
use lockwork_conformance::generous;
use rand::RngExt;
use std::{process::Command, time::Duration};

const SOON: Duration = Duration::from_millis(100);

/// Removes `path` as another process does.
fn rm(path: &std::path::Path) {
    assert!(Command::new("rm").arg(path).status().unwrap().success());
}

#[tokio::test]
async fn a_guard_whose_file_was_removed_is_lost_within_100_ms() {
    let directory = Directory::new();
    for poll in [false, true] {
        let files = lockwork::file::Files::options().poll(poll);
        let locks = lockwork::Locks::new(files.open(directory.path()).unwrap());
        for _ in 0..10 {
            let guard = locks.mutex("x").lock().await.unwrap();
            rm(&directory.file());
            let removed = Instant::now();
            let lost = tokio::time::timeout(generous(SOON), guard.lost()).await;
            assert!(lost.is_ok(), "not within 100 ms, poll={poll}");
            assert!(!guard.is_valid());
            println!("poll={poll}: {:?}", removed.elapsed());
            drop(guard);
            let next = locks.mutex("x").lock().await.unwrap();
            assert!(next.is_valid());
        }
    }
}

/// Each part of a lock that is held in several files.
#[tokio::test]
async fn a_guard_that_rests_on_several_files_is_lost_with_any_of_them() {
    let directory = Directory::new();
    let locks = directory.client();
    for ending in [".lock", ".intent.lock"] {
        let mut guard = locks.rw_lock("x").upgradeable_read().await.unwrap();
        guard.upgrade().await.unwrap();
        let ends_so = |path: &&std::path::PathBuf| {
            let name = path.to_str().unwrap();
            name.ends_with(ending)
                && (ending != ".lock" || !name.contains("t.lock") && !name.contains("gate"))
        };
        let files = directory.files();
        rm(files.iter().find(ends_so).unwrap());
        let lost = tokio::time::timeout(generous(SOON), guard.lost()).await;
        assert!(lost.is_ok(), "not within 100 ms, {ending}");
    }
    let permit = locks.semaphore("x", 2).acquire().await.unwrap();
    let files = directory.files();
    let is_permit = |path: &&std::path::PathBuf| path.to_str().unwrap().ends_with(".0.lock");
    rm(files.iter().find(is_permit).unwrap());
    let lost = tokio::time::timeout(generous(SOON), permit.lost()).await;
    assert!(lost.is_ok(), "not within 100 ms, permit");
}

#[test]
fn no_two_are_in_at_once_longer_than_100_ms_after_a_removal() {
    let directory = Directory::new();
    let start = |_| Contender::new(&directory.url(), "hold", "x", 8);
    let mut contenders: Vec<_> = (0..4).map(start).collect();
    contenders.iter_mut().for_each(Contender::go);
    let mut removals = Vec::new();
    let begun = Instant::now();
    while begun.elapsed() < Duration::from_secs(4) {
        let pause = rand::rng().random_range(20..250);
        std::thread::sleep(Duration::from_millis(pause));
        for file in directory.files() {
            let at = Instant::now().as_nanos();
            if std::fs::remove_file(file).is_ok() {
                removals.push(at);
            }
        }
    }
    let stays: Vec<_> = contenders.into_iter().flat_map(Contender::stays).collect();
    let found = crate::stays::overlaps(&stays).len();
    println!(
        "{} stays, {} removals, {found} overlaps",
        stays.len(),
        removals.len()
    );
    assert_eq!(stays.len(), 32);
    assert!(removals.len() > 10 && found > 0, "this proves nothing");
    overlaps_end_soon(&stays, &removals, generous(SOON));
}
