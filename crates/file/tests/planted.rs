//! Something else stands where a lock file belongs: it is named in an error and left untouched.
#![cfg(unix)]
#![allow(clippy::unwrap_used)]

use lockwork_core::lock::{Error, ErrorKind, Locks};
use lockwork_file::Files;
use std::{
    fs,
    os::unix::{fs::symlink, net::UnixListener},
    path::{Path, PathBuf},
    time::Duration,
};
use tempfile::TempDir;

const CONTENT: &[u8] = b"root:x:0:0 and what else there may be";

/// No error takes longer.
const LIMIT: Duration = Duration::from_secs(2);

struct Scene {
    parent: TempDir,
    locks: Locks,
}

impl Scene {
    fn new() -> Self {
        let parent = tempfile::tempdir().unwrap();
        let files = Files::open(parent.path().join("locks")).unwrap();
        fs::write(parent.path().join("victim"), CONTENT).unwrap();
        Self {
            locks: Locks::with_tenure(files, Duration::ZERO),
            parent,
        }
    }

    fn directory(&self) -> PathBuf {
        self.parent.path().join("locks")
    }

    fn victim(&self) -> PathBuf {
        self.parent.path().join("victim")
    }

    /// Takes and gives back what has a file of this name.
    async fn take(&self, file: &str) -> Result<(), Error> {
        let taking = async {
            let guard = match file.split('-').next().unwrap() {
                "rwlock" => self.locks.rw_lock("x").write().await,
                "semaphore" => self.locks.semaphore("x", 1).acquire().await,
                _ => self.locks.mutex("x").lock().await,
            };
            guard?.release().await
        };
        tokio::time::timeout(LIMIT, taking)
            .await
            .expect("an answer: not within 2 s")
    }

    /// The files of all kinds of locks, made and removed.
    async fn files(&self) -> Vec<PathBuf> {
        for kind in ["mutex", "rwlock", "semaphore"] {
            self.take(kind).await.unwrap();
        }
        let entries = fs::read_dir(self.directory()).unwrap();
        let paths: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
        paths.iter().for_each(|path| fs::remove_file(path).unwrap());
        assert!(paths.len() == 6, "{paths:?}");
        paths
    }
}

fn named(path: &Path) -> &str {
    path.file_name().unwrap().to_str().unwrap()
}

/// Plants something in the place of each file in turn.
async fn is_refused(advice: &str, plant: impl Fn(&Path, &Path)) {
    let scene = Scene::new();
    for path in scene
        .files()
        .await
        .into_iter()
        .chain([scene.directory().join(".lockwork")])
    {
        plant(&path, &scene.victim());
        let before = fs::symlink_metadata(&path).unwrap();
        let error = scene.take(named(&path)).await.expect_err(named(&path));
        assert_eq!(error.kind(), ErrorKind::Invalid, "{error}");
        let sentence = error.to_string();
        assert!(
            sentence.contains(advice) && sentence.contains(named(&path)),
            "{sentence}"
        );
        // Neither clearing up nor breaking touches it.
        let _ = scene.locks.collect(Duration::ZERO).await;
        let _ = scene.locks.mutex("x").break_lock("a test").await;
        let after = fs::symlink_metadata(&path).unwrap();
        assert_eq!(before.file_type(), after.file_type());
        assert_eq!(fs::read(scene.victim()).unwrap(), CONTENT);
        remove(&path);
        scene.take(named(&path)).await.unwrap();
        for entry in fs::read_dir(scene.directory()).unwrap() {
            fs::remove_file(entry.unwrap().path()).unwrap();
        }
    }
}

fn remove(path: &Path) {
    if path.is_dir() && !path.is_symlink() {
        fs::remove_dir(path).unwrap();
    } else {
        fs::remove_file(path).unwrap();
    }
}

#[tokio::test]
async fn a_link_to_another_file_is_refused() {
    is_refused("remove it", |path, victim| symlink(victim, path).unwrap()).await;
}

#[tokio::test]
async fn a_link_to_nowhere_is_refused_and_makes_nothing() {
    let made = tempfile::tempdir().unwrap();
    let nowhere = made.path().join("made");
    is_refused("remove it", |path, _| symlink(&nowhere, path).unwrap()).await;
    assert!(!nowhere.exists());
}

#[tokio::test]
async fn a_second_name_of_another_file_is_refused() {
    is_refused("remove it", |path, victim| {
        fs::hard_link(victim, path).unwrap()
    })
    .await;
}

#[tokio::test]
async fn a_fifo_is_refused_without_waiting_for_its_other_end() {
    let made = |path: &Path, _: &Path| {
        let status = std::process::Command::new("mkfifo").arg(path).status();
        assert!(status.unwrap().success());
    };
    is_refused("remove it", made).await;
}

#[tokio::test]
async fn a_socket_is_refused() {
    is_refused("remove it", |path, _| {
        // Its path may be too long for an address: bound elsewhere and moved.
        let short = path.parent().unwrap().parent().unwrap().join("s");
        drop(UnixListener::bind(&short).unwrap());
        fs::rename(short, path).unwrap();
    })
    .await;
}

#[tokio::test]
async fn a_directory_in_a_files_place_is_refused() {
    is_refused("remove it", |path, _| fs::create_dir(path).unwrap()).await;
}

/// Gates are locked and never read or written.
#[tokio::test]
async fn a_file_with_something_else_in_it_is_refused_and_not_written_to() {
    let scene = Scene::new();
    let mut paths = scene.files().await;
    paths.push(scene.directory().join(".lockwork"));
    paths.retain(|path| !named(path).contains(".gate."));
    for path in paths {
        fs::write(&path, CONTENT).unwrap();
        let error = scene.take(named(&path)).await.expect_err(named(&path));
        assert_eq!(error.kind(), ErrorKind::Invalid, "{error}");
        assert!(error.to_string().contains("see whose it is"), "{error}");
        let _ = scene.locks.collect(Duration::ZERO).await;
        let _ = scene.locks.mutex("x").break_lock("a test").await;
        assert_eq!(fs::read(&path).unwrap(), CONTENT);
        fs::remove_file(&path).unwrap();
    }
}

#[tokio::test]
async fn a_file_with_something_else_in_it_is_not_written_to_while_its_owner_has_it_locked() {
    let scene = Scene::new();
    for path in scene.files().await {
        if named(&path).contains(".gate.") {
            continue;
        }
        fs::write(&path, CONTENT).unwrap();
        let owner = fs::File::open(&path).unwrap();
        owner.lock().unwrap();
        let limit = Duration::from_millis(100);
        let taking = tokio::time::timeout(limit, scene.take(named(&path)));
        // Waiting for the owner or refused, as it comes.
        let _ = taking.await;
        assert_eq!(fs::read(&path).unwrap(), CONTENT, "{path:?}");
        fs::remove_file(&path).unwrap();
    }
}

/// Bytes of a slot, of which a file has two.
const SLOT: usize = 128;

#[tokio::test]
async fn one_torn_record_costs_nothing_and_two_are_an_error() {
    let scene = Scene::new();
    let lock = scene.locks.mutex("x");
    let mut last = None;
    for _ in 0..2 {
        last = lock.lock().await.unwrap().token();
    }
    let entries = fs::read_dir(scene.directory()).unwrap();
    let path = entries.map(|entry| entry.unwrap().path()).next().unwrap();
    let whole = fs::read(&path).unwrap();
    for slot in [0, 1] {
        // So that the clock is above what the torn one said, as after any power cut.
        tokio::time::sleep(Duration::from_millis(5)).await;
        let mut torn = whole.clone();
        torn[slot * SLOT..][SLOT / 2..SLOT].fill(0xff);
        fs::write(&path, &torn).unwrap();
        let guard = lock.lock().await.unwrap();
        assert!(guard.token() > last, "slot {slot}");
        last = guard.token();
    }
    let mut torn = whole;
    torn[10] ^= 1;
    torn[SLOT + 10] ^= 1;
    fs::write(&path, &torn).unwrap();
    let error = lock.lock().await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Invalid, "{error}");
    assert!(error.to_string().contains("damaged"), "{error}");
    assert_eq!(fs::read(&path).unwrap(), torn);
}
