//! Locks of one name that tasks of several processes wait for, each by its own crate.

use super::uncontended::open;
use crate::{
    cell::Outcome,
    cells::{crowd::Crowded, handoff::Kind},
};
use distributed_lock_core::traits::{DistributedLock, LockProvider};
use distributed_lock_file::{FileDistributedLock, FileLockHandle, FileLockProvider};
use lockwork::{Locks, file::Files};
use std::{
    fs::File,
    path::{Path, PathBuf},
    sync::{Arc, mpsc},
};
use tokio::{sync::oneshot, task::spawn_blocking};

#[derive(Clone, Debug)]
pub(super) struct Lockwork(lockwork::Mutex);

impl Kind for Lockwork {
    const HANDOFF: [&str; 2] = ["handoff-lockwork", "handoff-lockwork-second"];
    type Guard = lockwork::Guard;

    async fn in_directory(directory: &Path) -> Outcome<Self> {
        let locks = Locks::new(Files::open(directory)?);
        Ok(Self(locks.mutex("baton")))
    }

    async fn take(&self) -> Outcome<Self::Guard> {
        Ok(self.0.lock().await?)
    }
}

impl Crowded for Lockwork {
    const CROWD: &str = "crowd-lockwork";
}

fn file_in(directory: &Path) -> PathBuf {
    directory.join("baton.lock")
}

/// Locks on a thread, because the call waits.
#[derive(Clone, Debug)]
pub(super) struct Fs4(PathBuf);

/// Unlocks before it closes, as the crate's documentation does.
#[derive(Debug)]
pub(super) struct Unlocks(File);

impl Drop for Unlocks {
    fn drop(&mut self) {
        // What cannot be unlocked is closed next, and that unlocks it.
        let _ = fs4::FileExt::unlock(&self.0);
    }
}

impl Kind for Fs4 {
    const HANDOFF: [&str; 2] = ["handoff-fs4", "handoff-fs4-second"];
    type Guard = Unlocks;

    async fn in_directory(directory: &Path) -> Outcome<Self> {
        Ok(Self(file_in(directory)))
    }

    async fn take(&self) -> Outcome<Self::Guard> {
        let path = self.0.clone();
        let taken = spawn_blocking(move || {
            let file = open(&path)?;
            fs4::FileExt::lock(&file)?;
            Ok::<_, std::io::Error>(Unlocks(file))
        });
        Ok(taken.await??)
    }
}

impl Crowded for Fs4 {
    const CROWD: &str = "crowd-fs4";
}

/// Locks on a thread that keeps the guard, because it borrows from the lock.
#[derive(Clone, Debug)]
pub(super) struct FdLock(PathBuf);

impl Kind for FdLock {
    const HANDOFF: [&str; 2] = ["handoff-fd-lock", "handoff-fd-lock-second"];
    /// The thread lets go when this is gone.
    type Guard = mpsc::Sender<()>;

    async fn in_directory(directory: &Path) -> Outcome<Self> {
        Ok(Self(file_in(directory)))
    }

    async fn take(&self) -> Outcome<Self::Guard> {
        let path = self.0.clone();
        let (taken, told) = oneshot::channel();
        spawn_blocking(move || {
            let mut lock = fd_lock::RwLock::new(open(&path)?);
            let guard = lock.write()?;
            let (keep, gone) = mpsc::channel::<()>();
            if taken.send(keep).is_ok() {
                // An error says that it is gone.
                let _ = gone.recv();
            }
            drop(guard);
            Ok::<_, std::io::Error>(())
        });
        Ok(told.await?)
    }
}

impl Crowded for FdLock {
    const CROWD: &str = "crowd-fd-lock";
}

#[derive(Clone)]
pub(super) struct DistributedLockFile(Arc<FileDistributedLock>);

impl Kind for DistributedLockFile {
    const HANDOFF: [&str; 2] = ["handoff-dlf", "handoff-dlf-second"];
    type Guard = FileLockHandle;

    async fn in_directory(directory: &Path) -> Outcome<Self> {
        let provider = FileLockProvider::new(directory)?;
        Ok(Self(Arc::new(provider.create_lock("baton"))))
    }

    async fn take(&self) -> Outcome<Self::Guard> {
        Ok(self.0.acquire(None).await?)
    }
}

impl Crowded for DistributedLockFile {
    const CROWD: &str = "crowd-dlf";
}
