//! One holder at a time.

use super::{Guard, Holders, LockOptions, Mode, Result, Space, door::Door};
use std::time::Duration;

/// A lock that one holder has at a time. Not reentrant: a task that asks for what it holds waits
/// for itself.
///
/// Cheap to make and to clone; holding one holds nothing. Made by [`Locks::mutex`](super::Locks::mutex).
#[derive(Clone, Debug)]
pub struct Mutex(pub(super) Door);

impl Mutex {
    /// Takes the lock, waiting for as long as it takes.
    ///
    /// # Errors
    /// [`Invalid`](super::ErrorKind::Invalid) if the name cannot be one, or what the server has to
    /// say. Waiting is not an error.
    ///
    /// # Cancel safety
    /// May be dropped at any time: nothing stays held, nobody stays queued.
    pub async fn lock(&self) -> Result<Guard> {
        self.0.wait(Mode::Exclusive).await
    }

    /// Takes the lock if it is free; `None` if somebody has it or is ahead in line.
    ///
    /// # Errors
    /// # Cancel safety
    /// As [`Mutex::lock`].
    pub async fn try_lock(&self) -> Result<Option<Guard>> {
        self.0.ask_once(Mode::Exclusive).await
    }

    /// Takes the lock, waiting for at most `limit`; then `None`, which says that somebody else has it. A limit of zero
    /// is [`Mutex::try_lock`].
    ///
    /// # Errors
    /// As [`Mutex::lock`]; and [`Unavailable`](crate::lock::ErrorKind::Unavailable) if the server does not say by half a
    /// second after the limit whether it is free.
    ///
    /// # Cancel safety
    /// As [`Mutex::lock`].
    pub async fn try_lock_for(&self, limit: Duration) -> Result<Option<Guard>> {
        self.0.wait_for(Mode::Exclusive, limit).await
    }

    /// Takes the lock as `options` say; `None` if the wait ran out.
    ///
    /// # Errors
    /// # Cancel safety
    /// As [`Mutex::lock`].
    pub async fn lock_with(&self, options: LockOptions) -> Result<Option<Guard>> {
        self.0.with(Mode::Exclusive, options).await
    }

    /// Who holds it and who waits for it. For people: it may have changed since.
    ///
    /// # Errors
    /// What the server has to say.
    ///
    /// # Cancel safety
    /// Only asks; may be dropped at any time.
    pub async fn holders(&self) -> Result<Holders> {
        self.0.locks().holders(Space::Mutex, self.0.name()?).await
    }

    /// Takes the lock away from whoever has it, and says from how many; logged with `why`.
    ///
    /// For administrators. The holder's guard is lost; its work may go on until it notices, so the
    /// next holder's token is higher.
    ///
    /// # Errors
    /// What the server has to say.
    ///
    /// # Cancel safety
    /// Dropped half way, the lock may have been broken or not; that it was to be is logged.
    pub async fn break_lock(&self, why: &str) -> Result<usize> {
        self.0
            .locks()
            .break_lock(Space::Mutex, self.0.name()?, why)
            .await
    }
}
