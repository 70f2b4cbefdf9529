//! File locks: each case has a directory of its own.

use crate::{BoxFuture, Harness, Promise, Residue, Started};
use lockwork::{Locks, Result, file::Files};
use rustix::fs::CWD;
use std::{fs::File, path::PathBuf, sync::Arc, time::Duration};
use tempfile::TempDir;

struct InDirectory {
    directory: TempDir,
    poll: bool,
}

/// File locks whose waiters are told.
///
/// # Errors
/// If there is no room for a directory.
pub fn told() -> Started {
    start(false)
}

/// File locks whose waiters look for themselves.
///
/// # Errors
/// If there is no room for a directory.
pub fn polling() -> Started {
    start(true)
}

fn start(poll: bool) -> Started {
    let directory = tempfile::tempdir().map_err(|error| error.to_string())?;
    std::fs::create_dir(directory.path().join("locks")).map_err(|error| error.to_string())?;
    Ok(Arc::new(InDirectory { directory, poll }))
}

impl InDirectory {
    fn path(&self) -> PathBuf {
        self.directory.path().join("locks")
    }

    fn files(&self) -> Vec<PathBuf> {
        let entries = std::fs::read_dir(self.path()).expect("the directory is there");
        let paths = entries.map(|entry| entry.expect("an entry").path());
        let is_lock = |path: &PathBuf| path.extension().is_some_and(|end| end == "lock");
        paths.filter(is_lock).collect()
    }
}

impl Harness for InDirectory {
    fn client(&self, tenure: Duration) -> BoxFuture<'_, Result<Locks>> {
        let files = Files::options().poll(self.poll).open(self.path());
        let locks = files.map(|files| Locks::with_tenure(files, tenure));
        Box::pin(std::future::ready(locks))
    }

    fn url(&self) -> Option<String> {
        let (directory, poll) = (self.path(), self.poll);
        Some(format!("file://{}?poll={poll}", directory.display()))
    }

    /// Somebody puts another directory in the place of this one: everything is gone at once.
    fn sever(&self) -> Option<BoxFuture<'_, ()>> {
        Some(Box::pin(async {
            let path = self.path();
            let away = self
                .directory
                .path()
                .join(format!("{:x}", rand::random::<u64>()));
            std::fs::create_dir(&away).expect("room for a directory");
            // In one step: nobody finds no directory at all.
            let at_once = rustix::fs::RenameFlags::EXCHANGE;
            rustix::fs::renameat_with(CWD, &path, CWD, &away, at_once).expect("exchangeable");
        }))
    }

    /// Whose waiters are told nothing has a site of its own.
    fn mute(&self) {}

    fn residue(&self) -> Option<Residue> {
        let is_locked = |path: &PathBuf| {
            let file = File::open(path).expect("readable");
            file.try_lock().is_err()
        };
        let locks = self.files().into_iter().filter(is_locked).count();
        Some(Residue { locks, waiters: 0 })
    }

    fn promises(&self, promise: Promise) -> bool {
        !matches!(promise, Promise::Order | Promise::KnowsWaiters)
    }

    fn takeover(&self) -> Duration {
        Duration::from_millis(100)
    }

    fn notice(&self) -> Duration {
        Duration::from_millis(100)
    }

    fn patience(&self) -> Duration {
        Duration::from_millis(100)
    }
}
