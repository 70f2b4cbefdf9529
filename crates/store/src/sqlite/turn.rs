//! Taking turns with other processes that write to the same file.
//!
//! SQLite lets whoever waits look again now and then, and whoever has just written is always quicker: one process that
//! is busy keeps another out until that gives up. So whoever wants to write takes a lock beside the file first and lets
//! go of it once it is in. The one that comes out waits behind it then.
//!
//! This is courtesy. Who may write is decided by SQLite alone: a lock that cannot be had in time, or at all, is done
//! without.

use std::{
    fs::{File, OpenOptions, TryLockError},
    path::Path,
    time::Duration,
};
use tokio::time::Instant;

/// How often one that waits looks again: about as long as a small transaction takes.
pub(super) const AGAIN: Duration = Duration::from_millis(1);

/// How long one waits for its turn at most. Whoever has it is about to write, unless its process stands still.
const COURTESY: Duration = Duration::from_millis(500);

/// The lock beside a store's file.
#[derive(Debug)]
pub(super) struct Turn {
    next: Option<File>,
}

impl Turn {
    /// The lock beside this file. Like it, for its owner alone.
    pub(super) fn beside(file: &Path) -> Self {
        let mut name = file.as_os_str().to_owned();
        name.push("-turn");
        let mut open = OpenOptions::new();
        open.read(true).append(true).create(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut open, 0o600);
        let next = open.open(name);
        if let Err(error) = &next {
            tracing::debug!(%error, "processes that write to the store's file do not take turns");
        }
        Self { next: next.ok() }
    }

    /// Waits until this one is next, but not for long, and not after `until`.
    pub(super) async fn wait(&self, until: Instant) -> Next<'_> {
        let Some(next) = &self.next else {
            return Next(None);
        };
        let until = until.min(Instant::now() + COURTESY);
        loop {
            match next.try_lock() {
                Ok(()) => return Next(Some(next)),
                Err(TryLockError::WouldBlock) if Instant::now() < until => {
                    tokio::time::sleep(AGAIN).await;
                }
                Err(_) => return Next(None),
            }
        }
    }
}

/// Whoever is next. Another one is when this is dropped.
#[derive(Debug)]
pub(super) struct Next<'t>(Option<&'t File>);

impl Drop for Next<'_> {
    fn drop(&mut self) {
        if let Some(Err(error)) = self.0.map(File::unlock) {
            tracing::debug!(%error, "the lock beside the store's file was not given back");
        }
    }
}
