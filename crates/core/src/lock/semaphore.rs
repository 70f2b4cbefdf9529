//! So many at a time, and no more.

use super::{Error, ErrorKind, Guard, Holders, LockOptions, Mode, Result, Space, door::Door};
use std::{num::NonZeroU32, time::Duration};

/// A lock with a number of permits. Made by [`Locks::semaphore`](super::Locks::semaphore).
///
/// Everybody should open one name with one size. Where they do not, each size is kept by those
/// who ask for it: at no time are more than *n* grants of size *n* or smaller out, and a request
/// of size *n* is refused while *n* grants are.
///
/// What [`Mutex::lock`](super::Mutex::lock) says about errors and dropped futures holds here too.
#[derive(Clone, Debug)]
pub struct Semaphore {
    pub(super) door: Door,
    pub(super) permits: u32,
}

impl Semaphore {
    /// Takes a permit, waiting for as long as it takes.
    ///
    /// # Errors
    /// [`Invalid`](ErrorKind::Invalid) if the semaphore was opened with zero permits;
    /// [`Unsupported`](ErrorKind::Unsupported) where the backend has no semaphores.
    pub async fn acquire(&self) -> Result<Guard> {
        self.door.wait(self.mode()?).await
    }

    /// Takes a permit if one is free.
    ///
    /// # Errors
    /// As [`Semaphore::acquire`].
    pub async fn try_acquire(&self) -> Result<Option<Guard>> {
        self.door.ask_once(self.mode()?).await
    }

    /// Takes a permit, waiting for at most `limit`.
    ///
    /// # Errors
    /// As [`Semaphore::acquire`].
    pub async fn try_acquire_for(&self, limit: Duration) -> Result<Option<Guard>> {
        self.door.wait_for(self.mode()?, limit).await
    }

    /// Takes a permit as `options` say.
    ///
    /// # Errors
    /// As [`Semaphore::acquire`].
    pub async fn acquire_with(&self, options: LockOptions) -> Result<Option<Guard>> {
        self.door.with(self.mode()?, options).await
    }

    /// Who holds permits and who waits for one. For people: it may have changed since.
    ///
    /// # Errors
    /// What the server has to say.
    ///
    /// # Cancel safety
    /// Only asks; may be dropped at any time.
    pub async fn holders(&self) -> Result<Holders> {
        self.door
            .locks()
            .holders(Space::Semaphore, self.door.name()?)
            .await
    }

    /// Takes all permits away from those who have them; see
    /// [`Mutex::break_lock`](super::Mutex::break_lock).
    ///
    /// # Errors
    /// What the server has to say.
    ///
    /// # Cancel safety
    /// Dropped half way, the lock may have been broken or not; that it was to be is logged.
    pub async fn break_lock(&self, why: &str) -> Result<usize> {
        self.door
            .locks()
            .break_lock(Space::Semaphore, self.door.name()?, why)
            .await
    }

    fn mode(&self) -> Result<Mode> {
        let of = NonZeroU32::new(self.permits).ok_or_else(|| {
            Error::new(
                ErrorKind::Invalid,
                "a semaphore needs at least one permit: this has none",
            )
        })?;
        Ok(Mode::Permit { of })
    }
}
