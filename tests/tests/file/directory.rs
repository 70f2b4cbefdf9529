//! A directory of locks for one test, and the time to itself.

use lockwork::{Locks, file::Files};
use std::{
    path::{Path, PathBuf},
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};
use tempfile::TempDir;

/// `locks` in a directory of its own. One test has one at a time: most are about milliseconds.
pub struct Directory {
    parent: TempDir,
    _alone: MutexGuard<'static, ()>,
}

impl Directory {
    pub fn new() -> Self {
        Self::under(&std::env::temp_dir())
    }

    /// Where removing costs no wait for a disk, and so happens often.
    pub fn in_memory() -> Self {
        let memory = Path::new("/dev/shm");
        let there = memory.is_dir();
        Self::under(if there { memory } else { Path::new("/tmp") })
    }

    fn under(place: &Path) -> Self {
        static ALONE: Mutex<()> = Mutex::new(());
        // A test that failed has left nothing here.
        let alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
        let parent = tempfile::tempdir_in(place).unwrap();
        std::fs::create_dir(parent.path().join("locks")).unwrap();
        Self {
            parent,
            _alone: alone,
        }
    }

    pub fn parent(&self) -> &Path {
        self.parent.path()
    }

    pub fn path(&self) -> PathBuf {
        self.parent().join("locks")
    }

    pub fn url(&self) -> String {
        format!("file://{}", self.path().display())
    }

    /// A client that asks anew for each lock.
    pub fn client(&self) -> Locks {
        Locks::with_tenure(Files::open(self.path()).unwrap(), Duration::ZERO)
    }

    /// The lock files, sorted.
    pub fn files(&self) -> Vec<PathBuf> {
        let entries = std::fs::read_dir(self.path()).unwrap();
        let paths = entries.map(|entry| entry.unwrap().path());
        let is_lock = |path: &PathBuf| path.extension().is_some_and(|end| end == "lock");
        let mut files: Vec<_> = paths.filter(is_lock).collect();
        files.sort();
        files
    }

    /// The only lock file there is.
    pub fn file(&self) -> PathBuf {
        let files = self.files();
        assert_eq!(files.len(), 1, "{files:?}");
        files[0].clone()
    }
}
