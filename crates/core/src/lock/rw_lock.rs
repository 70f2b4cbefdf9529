//! Many readers, or one writer.

use super::{Guard, Holders, LockOptions, Mode, Result, Space, door::Door};
use std::time::Duration;

/// A lock that many readers share or one writer has. A waiting writer is not overtaken by readers
/// who come later.
///
/// Three ways in, each in the same four forms: wait, ask once, wait for a while, options. What
/// [`Mutex::lock`](super::Mutex::lock) says about errors and dropped futures holds for all of
/// them. Made by [`Locks::rw_lock`](super::Locks::rw_lock).
///
/// ```
/// use lockwork_core::lock::{Locks, Memory};
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> lockwork_core::lock::Result<()> {
/// let prices = Locks::new(Memory::new()).rw_lock("prices");
/// let mut guard = prices.upgradeable_read().await?;
/// let reader = prices.read().await?;      // readers may be beside it
/// assert!(!guard.try_upgrade().await?);   // and are in the way
/// reader.release().await?;
/// guard.upgrade().await?;                 // now it is the writer
/// assert!(prices.try_read().await?.is_none());
/// # Ok(()) }
/// ```
#[derive(Clone, Debug)]
pub struct RwLock(pub(super) Door);

impl RwLock {
    /// Becomes a reader, waiting for as long as it takes.
    ///
    /// # Errors
    /// [`Unsupported`](super::ErrorKind::Unsupported) where the backend has no read/write locks.
    pub async fn read(&self) -> Result<Guard> {
        self.0.wait(Mode::Read).await
    }

    /// Becomes a reader if no writer is in or waiting.
    ///
    /// # Errors
    /// As [`RwLock::read`].
    pub async fn try_read(&self) -> Result<Option<Guard>> {
        self.0.ask_once(Mode::Read).await
    }

    /// Becomes a reader, waiting for at most `limit`.
    ///
    /// # Errors
    /// As [`RwLock::read`].
    pub async fn try_read_for(&self, limit: Duration) -> Result<Option<Guard>> {
        self.0.wait_for(Mode::Read, limit).await
    }

    /// Becomes a reader as `options` say.
    ///
    /// # Errors
    /// As [`RwLock::read`].
    pub async fn read_with(&self, options: LockOptions) -> Result<Option<Guard>> {
        self.0.with(Mode::Read, options).await
    }

    /// Becomes the writer, waiting for as long as it takes.
    ///
    /// # Errors
    /// As [`RwLock::read`].
    pub async fn write(&self) -> Result<Guard> {
        self.0.wait(Mode::Write).await
    }

    /// Becomes the writer if nobody is in.
    ///
    /// # Errors
    /// As [`RwLock::read`].
    pub async fn try_write(&self) -> Result<Option<Guard>> {
        self.0.ask_once(Mode::Write).await
    }

    /// Becomes the writer, waiting for at most `limit`.
    ///
    /// # Errors
    /// As [`RwLock::read`].
    pub async fn try_write_for(&self, limit: Duration) -> Result<Option<Guard>> {
        self.0.wait_for(Mode::Write, limit).await
    }

    /// Becomes the writer as `options` say.
    ///
    /// # Errors
    /// As [`RwLock::read`].
    pub async fn write_with(&self, options: LockOptions) -> Result<Option<Guard>> {
        self.0.with(Mode::Write, options).await
    }

    /// Becomes the one reader that may [upgrade](Guard::upgrade), waiting for as long as it takes.
    ///
    /// # Errors
    /// [`Unsupported`](super::ErrorKind::Unsupported) where the backend has no upgradeable reads.
    pub async fn upgradeable_read(&self) -> Result<Guard> {
        self.0.wait(Mode::Upgradeable).await
    }

    /// Becomes the upgradeable reader if there is none and no writer is in or waiting.
    ///
    /// # Errors
    /// As [`RwLock::upgradeable_read`].
    pub async fn try_upgradeable_read(&self) -> Result<Option<Guard>> {
        self.0.ask_once(Mode::Upgradeable).await
    }

    /// Becomes the upgradeable reader, waiting for at most `limit`.
    ///
    /// # Errors
    /// As [`RwLock::upgradeable_read`].
    pub async fn try_upgradeable_read_for(&self, limit: Duration) -> Result<Option<Guard>> {
        self.0.wait_for(Mode::Upgradeable, limit).await
    }

    /// Becomes the upgradeable reader as `options` say.
    ///
    /// # Errors
    /// As [`RwLock::upgradeable_read`].
    pub async fn upgradeable_read_with(&self, options: LockOptions) -> Result<Option<Guard>> {
        self.0.with(Mode::Upgradeable, options).await
    }

    /// Who holds it and who waits for it. For people: it may have changed since.
    ///
    /// # Errors
    /// What the server has to say.
    ///
    /// # Cancel safety
    /// Only asks; may be dropped at any time.
    pub async fn holders(&self) -> Result<Holders> {
        self.0.locks().holders(Space::RwLock, self.0.name()?).await
    }

    /// Takes the lock away from everybody who has it; see
    /// [`Mutex::break_lock`](super::Mutex::break_lock).
    ///
    /// # Errors
    /// What the server has to say.
    ///
    /// # Cancel safety
    /// Dropped half way, the lock may have been broken or not; that it was to be is logged.
    pub async fn break_lock(&self, why: &str) -> Result<usize> {
        self.0
            .locks()
            .break_lock(Space::RwLock, self.0.name()?, why)
            .await
    }
}
