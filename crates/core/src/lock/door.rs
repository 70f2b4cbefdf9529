//! What mutexes, read/write locks and semaphores have in common: a name, a mode, and the four
//! ways of asking.

use super::{Error, ErrorKind, Guard, LockOptions, Locks, Mode, Name, Result, Wait};
use std::time::Duration;

/// One way into one lock.
#[derive(Clone, Debug)]
pub(super) struct Door {
    locks: Locks,
    /// A name that cannot be one is told when the lock is asked for.
    name: Result<Name>,
}

impl Door {
    pub(super) fn new<N>(locks: Locks, name: N) -> Self
    where
        N: TryInto<Name>,
        N::Error: Into<Error>,
    {
        Self {
            locks,
            name: name.try_into().map_err(Into::into),
        }
    }

    pub(super) const fn locks(&self) -> &Locks {
        &self.locks
    }

    pub(super) fn name(&self) -> Result<&Name> {
        self.name.as_ref().map_err(Clone::clone)
    }

    pub(super) async fn wait(&self, mode: Mode) -> Result<Guard> {
        self.with(mode, LockOptions::new()).await?.ok_or_else(|| {
            Error::new(
                ErrorKind::Unexpected,
                "the backend gave a wait up that had no time limit: report it",
            )
        })
    }

    pub(super) async fn ask_once(&self, mode: Mode) -> Result<Option<Guard>> {
        self.with(mode, LockOptions::new().wait(Wait::No)).await
    }

    pub(super) async fn wait_for(&self, mode: Mode, limit: Duration) -> Result<Option<Guard>> {
        self.with(mode, LockOptions::new().wait(Wait::For(limit)))
            .await
    }

    pub(super) async fn with(&self, mode: Mode, options: LockOptions) -> Result<Option<Guard>> {
        self.locks.acquire(self.name()?, mode, options).await
    }
}
