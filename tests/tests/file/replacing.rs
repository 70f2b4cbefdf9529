//! The directory, or the file, is replaced while a lock is held.

use crate::directory::Directory;
use lockwork::{ErrorKind, Guard, Locks};
use lockwork_conformance::generous;
use std::{
    fs::{self, Permissions},
    os::unix::fs::PermissionsExt,
    path::Path,
    time::Duration,
};

const SOON: Duration = Duration::from_millis(100);
/// A directory's parents are looked at every second.
const IN_A_SECOND: Duration = Duration::from_millis(1100);

async fn is_lost(guard: &Guard, limit: Duration) {
    let lost = tokio::time::timeout(generous(limit), guard.lost()).await;
    assert!(lost.is_ok(), "it is lost: not within {limit:?}");
}

async fn can_be_taken(locks: &Locks) {
    let next = locks.mutex("x");
    let next = tokio::time::timeout(Duration::from_secs(2), next.lock()).await;
    assert!(next.expect("not within 2 s").unwrap().is_valid());
}

fn replace(directory: &Path, away: &Path) {
    fs::rename(directory, away).unwrap();
    fs::create_dir(directory).unwrap();
}

#[tokio::test]
async fn a_directory_replaced_takes_its_locks_with_it_and_the_new_one_is_used() {
    let directory = Directory::new();
    let locks = directory.client();
    let guard = locks.mutex("x").lock().await.unwrap();
    let before = guard.token();
    replace(&directory.path(), &directory.parent().join("away"));
    is_lost(&guard, SOON).await;
    let next = locks.mutex("x").lock().await.unwrap();
    assert!(next.token() > before);
    // What is lost now is lost in the new one.
    fs::remove_file(directory.file()).unwrap();
    is_lost(&next, SOON).await;
}

#[tokio::test]
async fn a_waiter_goes_on_in_the_new_directory() {
    let directory = Directory::new();
    let (holder, waiter) = (directory.client(), directory.client());
    let guard = holder.mutex("x").lock().await.unwrap();
    let waiting = tokio::spawn(async move { waiter.mutex("x").lock().await.unwrap() });
    tokio::time::sleep(Duration::from_millis(50)).await;
    replace(&directory.path(), &directory.parent().join("away"));
    let next = tokio::time::timeout(generous(SOON), waiting).await;
    assert!(next.expect("not within 100 ms").unwrap().is_valid());
    assert!(!guard.is_valid());
}

/// Nobody is told of a parent that is replaced. Whoever comes upon the new directory by itself knows
/// what became of the old one.
#[tokio::test]
async fn a_client_that_finds_the_directory_replaced_loses_what_it_held_there() {
    let directory = Directory::new();
    let inner = directory.path().join("inner");
    let locks = Locks::new(lockwork::file::Files::open(&inner).unwrap());
    let guard = locks.mutex("x").lock().await.unwrap();
    replace(&directory.path(), &directory.parent().join("away"));
    fs::create_dir(&inner).unwrap();
    fs::set_permissions(&inner, Permissions::from_mode(0o700)).unwrap();
    let elsewhere = locks.mutex("y").lock().await.unwrap();
    assert!(elsewhere.is_valid() && !guard.is_valid());
}

#[tokio::test]
async fn a_parent_renamed_away_is_noticed_in_a_second() {
    let directory = Directory::new();
    let inner = directory.path().join("inner");
    let locks = Locks::new(lockwork::file::Files::open(&inner).unwrap());
    let guard = locks.mutex("x").lock().await.unwrap();
    fs::rename(directory.path(), directory.parent().join("away")).unwrap();
    is_lost(&guard, IN_A_SECOND).await;
    let gone = locks.mutex("x").lock().await.unwrap_err();
    assert_eq!(gone.kind(), ErrorKind::Unavailable, "{gone}");
    assert!(gone.to_string().contains("create it again"), "{gone}");
    fs::create_dir_all(&inner).unwrap();
    fs::set_permissions(&inner, Permissions::from_mode(0o700)).unwrap();
    can_be_taken(&locks).await;
}

#[tokio::test]
async fn a_file_replaced_by_rename_takes_the_lock_with_it() {
    let directory = Directory::new();
    let locks = directory.client();
    let guard = locks.mutex("x").lock().await.unwrap();
    let other = directory.parent().join("other");
    fs::write(&other, "").unwrap();
    fs::rename(other, directory.file()).unwrap();
    is_lost(&guard, SOON).await;
    can_be_taken(&locks).await;
}

#[tokio::test]
async fn a_file_whose_rights_are_changed_stays_held() {
    let directory = Directory::new();
    let locks = directory.client();
    let guard = locks.mutex("x").lock().await.unwrap();
    fs::set_permissions(directory.file(), Permissions::from_mode(0o000)).unwrap();
    tokio::time::sleep(SOON).await;
    assert!(guard.is_valid());
    guard.release().await.unwrap();
}

#[tokio::test]
async fn two_clients_of_one_process_both_hear_of_a_loss() {
    let directory = Directory::new();
    let (one, other) = (directory.client(), directory.client());
    let first = one.rw_lock("x").read().await.unwrap();
    let second = other.rw_lock("x").read().await.unwrap();
    for file in directory.files() {
        fs::remove_file(file).unwrap();
    }
    is_lost(&first, SOON).await;
    is_lost(&second, SOON).await;
    // One that goes does not take the other's ears along.
    drop((first, one));
    let guard = other.mutex("x").lock().await.unwrap();
    for file in directory.files() {
        fs::remove_file(file).unwrap();
    }
    is_lost(&guard, SOON).await;
}
