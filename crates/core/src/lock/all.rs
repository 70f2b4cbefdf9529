//! Several mutexes at once, without deadlock.

use super::{Deadline, Error, ErrorKind, Guards, LockOptions, Locks, Name, Result, Wait};
use std::time::Duration;

/// Several mutexes to be taken together; made by [`Locks::all`].
///
/// First all of them are tried at once, in one round trip where the server can do that. If one is
/// busy, they are taken one after another in the order of their names, which is the same
/// everywhere, so two that want overlapping sets never wait for each other in a circle. Names
/// given twice count once.
///
/// ```
/// use lockwork_core::lock::{Locks, Memory};
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> lockwork_core::lock::Result<()> {
/// let locks = Locks::new(Memory::new());
/// let both = locks.all(["account/7", "account/3", "account/7"]).lock().await?;
/// assert_eq!(both.iter().count(), 2);
/// assert!(locks.mutex("account/3").try_lock().await?.is_none());
/// # Ok(()) }
/// ```
#[derive(Clone, Debug)]
pub struct All {
    locks: Locks,
    names: Result<Vec<Name>>,
}

impl All {
    pub(super) fn new<N>(locks: Locks, names: impl IntoIterator<Item = N>) -> Self
    where
        N: TryInto<Name>,
        N::Error: Into<Error>,
    {
        let names = names
            .into_iter()
            .map(|name| name.try_into().map_err(Into::into));
        let names = names.collect::<Result<Vec<Name>>>().map(|mut names| {
            names.sort_unstable();
            names.dedup();
            names
        });
        Self { locks, names }
    }

    /// Takes all of them, waiting for as long as it takes.
    ///
    /// # Errors
    /// [`Invalid`](ErrorKind::Invalid) if there are no names or one cannot be one.
    ///
    /// # Cancel safety
    /// May be dropped at any time: nothing stays held.
    pub async fn lock(&self) -> Result<Guards> {
        self.lock_with(LockOptions::new()).await?.ok_or_else(|| {
            Error::new(
                ErrorKind::Unexpected,
                "the backend gave a wait up that had no time limit: report it",
            )
        })
    }

    /// Takes all of them if all are free.
    ///
    /// # Errors
    /// # Cancel safety
    /// As [`All::lock`].
    pub async fn try_lock(&self) -> Result<Option<Guards>> {
        self.lock_with(LockOptions::new().wait(Wait::No)).await
    }

    /// Takes all of them, waiting for at most `limit` altogether.
    ///
    /// # Errors
    /// # Cancel safety
    /// As [`All::lock`].
    pub async fn try_lock_for(&self, limit: Duration) -> Result<Option<Guards>> {
        self.lock_with(LockOptions::new().wait(Wait::For(limit)))
            .await
    }

    /// Takes all of them as `options` say; `None` if the wait ran out.
    ///
    /// # Errors
    /// # Cancel safety
    /// As [`All::lock`].
    pub async fn lock_with(&self, options: LockOptions) -> Result<Option<Guards>> {
        let names = self.names.as_ref().map_err(Clone::clone)?;
        if names.is_empty() {
            return Err(Error::new(
                ErrorKind::Invalid,
                "all of no locks is not a lock: name one",
            ));
        }
        let deadline = options.wait.deadline();
        if let Some(guards) = self.locks.try_all(names, options).await? {
            return Ok(Some(Guards::new(guards)));
        }
        if deadline == Deadline::Now {
            return Ok(None);
        }
        self.one_after_another(names, options, deadline).await
    }

    async fn one_after_another(
        &self,
        names: &[Name],
        options: LockOptions,
        deadline: Deadline,
    ) -> Result<Option<Guards>> {
        let mut guards = Vec::with_capacity(names.len());
        for name in names {
            match self
                .locks
                .mutex(name)
                .lock_with(options.wait(deadline.into()))
                .await?
            {
                Some(guard) => guards.push(guard),
                None => return Ok(None),
            }
        }
        Ok(Some(Guards::new(guards)))
    }
}
