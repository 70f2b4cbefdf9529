//! No room on the disk, or no right to write: nothing is half written, and the store goes on by itself.

use crate::support::{
    at, bookmark, claim, commit, errand, instance, kind, soon, stimulus, suspend, values,
};
use lockwork_core::workflow::ErrorKind;
use lockwork_runtime::store::{Errand, ErrandKind, ErrandStore, InstanceStore};
use lockwork_store::sqlite::SqliteStore;
use std::{fs, os::unix::fs::MetadataExt, path::Path, process::Command};

/// A file system with room for little. It goes with whoever has made it.
struct Small(tempfile::TempDir);

impl Small {
    /// Where this process may have one: an administrator always may.
    fn new(bytes: usize) -> Option<Self> {
        let directory = tempfile::tempdir().unwrap();
        let mounted = Command::new("mount")
            .args(["-t", "tmpfs", "-o", &format!("size={bytes}"), "lockwork"])
            .arg(directory.path())
            .status();
        let mounted = mounted.is_ok_and(|status| status.success());
        let mine = fs::metadata("/proc/self").is_ok_and(|process| process.uid() == 0);
        assert!(mounted || !mine, "an administrator may mount");
        mounted.then_some(Self(directory))
    }

    fn file(&self, name: &str) -> std::path::PathBuf {
        self.0.path().join(name)
    }
}

impl Drop for Small {
    fn drop(&mut self) {
        let unmounted = Command::new("umount").arg("-l").arg(self.0.path()).status();
        assert!(unmounted.is_ok_and(|status| status.success()));
    }
}

/// Takes all the room there is.
fn fill(file: &Path) {
    let mut size = 1 << 20;
    let mut all = Vec::new();
    while size > 0 {
        let more = [all.clone(), vec![0; size]].concat();
        match fs::write(file, &more) {
            Ok(()) => all = more,
            Err(_) => {
                fs::write(file, &all).unwrap();
                size /= 2;
            }
        }
    }
}

fn large(id: &str) -> Errand {
    let stimulus = stimulus("Go").input(values(&"x".repeat(200_000)));
    Errand {
        id: id.to_owned(),
        kind: ErrandKind::Send(stimulus),
        due: at(0),
    }
}

#[tokio::test]
async fn a_file_that_cannot_be_written_is_refused_with_advice() {
    let Some(small) = Small::new(8 << 20) else {
        return;
    };
    let url = format!("sqlite:{}", small.file("lockwork.db").display());
    soon(soon(SqliteStore::open(&url)).await.unwrap().close()).await;
    let remounted = Command::new("mount")
        .args(["-o", "remount,ro"])
        .arg(small.0.path())
        .status();
    assert!(remounted.is_ok_and(|status| status.success()));
    let error = soon(SqliteStore::open(&url)).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Denied, "{error}");
    assert!(error.to_string().contains("writ"), "{error}");
}

#[tokio::test]
async fn without_room_nothing_is_half_written_and_with_room_it_goes_on() {
    let Some(small) = Small::new(8 << 20) else {
        return;
    };
    let url = format!("sqlite:{}", small.file("lockwork.db").display());
    let store = soon(SqliteStore::open(&url)).await.unwrap();
    suspend(&store, "a", "Go").await;
    let claimed = claim(&store, "a").await;
    let filler = small.file("filler");
    fill(&filler);
    let mut failed = None;
    for number in 0..20 {
        failed = soon(store.add(vec![large(&format!("e{number}"))]))
            .await
            .err();
        if failed.is_some() {
            break;
        }
    }
    let failed = failed.expect("there was no room");
    assert_eq!(failed.kind(), ErrorKind::Unavailable);
    assert!(failed.to_string().contains("room"), "{failed}");
    let mut again = commit(claimed, vec![]);
    again.errands = vec![large("with the commit")];
    assert_eq!(
        kind(soon(store.commit(again)).await),
        ErrorKind::Unavailable
    );
    let record = soon(store.load(&instance("a"))).await.unwrap().unwrap();
    assert_eq!(record.version, 1);
    fs::remove_file(&filler).unwrap();
    let again = commit(claim(&store, "a").await, vec![bookmark("a:2", "Go")]);
    soon(store.commit(again)).await.unwrap();
    soon(store.add(vec![errand("later")])).await.unwrap();
    let taken = soon(store.take(at(0), at(10), 100)).await.unwrap();
    assert!(!taken.iter().any(|held| held.errand.id == "with the commit"));
    assert!(taken.iter().any(|held| held.errand.id == "later"));
    soon(store.close()).await;
}
