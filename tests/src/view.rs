//! Every primitive can serve as a mutex; the mutex cases run on each.

use lockwork::{Guard, Guards, Instant, LockOptions, Locks, Lost, Result, Token, Wait};
use std::time::Duration;

/// As what a mutex is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum View {
    /// As a mutex.
    Mutex,
    /// As the writer of a read/write lock.
    Write,
    /// As the upgradeable reader of a read/write lock.
    Upgradeable,
    /// As the one permit of a semaphore.
    OnePermit,
    /// As the last of five permits, the others being held by somebody else.
    LastPermit,
    /// As two mutexes taken together.
    All,
}

impl View {
    /// All of them.
    pub const EVERY: [Self; 6] = [
        Self::Mutex,
        Self::Write,
        Self::Upgradeable,
        Self::OnePermit,
        Self::LastPermit,
        Self::All,
    ];

    /// For the names of trials.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Mutex => "mutex",
            Self::Write => "write",
            Self::Upgradeable => "upgradeable",
            Self::OnePermit => "one_permit",
            Self::LastPermit => "last_permit",
            Self::All => "all",
        }
    }

    /// Whether the backend can show it.
    #[must_use]
    pub const fn is_shown_by(self, info: &lockwork::Info) -> bool {
        match self {
            Self::Mutex | Self::All => true,
            Self::Write => info.capability.rw_lock,
            Self::Upgradeable => info.capability.upgradeable,
            Self::OnePermit | Self::LastPermit => info.capability.semaphore,
        }
    }

    /// Whether its grants carry tokens.
    #[must_use]
    pub const fn has_token(self) -> bool {
        matches!(self, Self::Mutex | Self::Write | Self::All)
    }

    /// What must be held for as long as the view is used.
    pub async fn prepare(self, locks: &Locks, name: &str) -> Vec<Guard> {
        let mut others = Vec::new();
        if self == Self::LastPermit {
            for _ in 0..4 {
                others.push(locks.semaphore(name, 5).acquire().await.expect("a permit"));
            }
        }
        others
    }

    /// Takes the lock, waiting for as long as it takes.
    ///
    /// # Errors
    /// What the backend has to say.
    pub async fn lock(self, locks: &Locks, name: &str) -> Result<Held> {
        Ok(self
            .take(locks, name, LockOptions::new())
            .await?
            .expect("waited without limit"))
    }

    /// Takes the lock if it is free.
    ///
    /// # Errors
    /// What the backend has to say.
    pub async fn try_lock(self, locks: &Locks, name: &str) -> Result<Option<Held>> {
        self.take(locks, name, LockOptions::new().wait(Wait::No))
            .await
    }

    /// Takes the lock, waiting for at most `limit`.
    ///
    /// # Errors
    /// What the backend has to say.
    pub async fn try_lock_for(
        self,
        locks: &Locks,
        name: &str,
        limit: Duration,
    ) -> Result<Option<Held>> {
        self.take(locks, name, LockOptions::new().wait(Wait::For(limit)))
            .await
    }

    /// Takes the lock as `options` say.
    ///
    /// # Errors
    /// What the backend has to say.
    pub async fn take(
        self,
        locks: &Locks,
        name: &str,
        options: LockOptions,
    ) -> Result<Option<Held>> {
        let one = match self {
            Self::Mutex => locks.mutex(name).lock_with(options).await,
            Self::Write => locks.rw_lock(name).write_with(options).await,
            Self::Upgradeable => locks.rw_lock(name).upgradeable_read_with(options).await,
            Self::OnePermit => locks.semaphore(name, 1).acquire_with(options).await,
            Self::LastPermit => locks.semaphore(name, 5).acquire_with(options).await,
            Self::All => {
                let names = [format!("{name}/2"), format!("{name}/1")];
                return Ok(locks
                    .all(names)
                    .lock_with(options)
                    .await?
                    .map(Held::Several));
            }
        };
        Ok(one?.map(Held::One))
    }
}

/// A guard, or several as one.
#[derive(Debug)]
pub enum Held {
    /// Of one lock.
    One(Guard),
    /// Of several.
    Several(Guards),
}

impl Held {
    /// Its token; of several, the first one's.
    #[must_use]
    pub fn token(&self) -> Option<Token> {
        match self {
            Self::One(guard) => guard.token(),
            Self::Several(guards) => guards.iter().next().and_then(Guard::token),
        }
    }

    /// See [`Guard::is_valid`].
    #[must_use]
    pub fn is_valid(&self) -> bool {
        match self {
            Self::One(guard) => guard.is_valid(),
            Self::Several(guards) => guards.is_valid(),
        }
    }

    /// See [`Guard::valid_until`].
    #[must_use]
    pub fn valid_until(&self) -> Option<Instant> {
        match self {
            Self::One(guard) => guard.valid_until(),
            Self::Several(guards) => guards.valid_until(),
        }
    }

    /// See [`Guard::lost`].
    #[must_use]
    pub fn lost(&self) -> Lost {
        match self {
            Self::One(guard) => guard.lost(),
            Self::Several(guards) => guards.lost(),
        }
    }

    /// See [`Guard::run`].
    ///
    /// # Errors
    /// If the lock is lost.
    pub async fn run<T: Send>(&self, work: impl Future<Output = T> + Send) -> Result<T> {
        match self {
            Self::One(guard) => guard.run(work).await,
            Self::Several(guards) => guards.run(work).await,
        }
    }

    /// See [`Guard::release`].
    ///
    /// # Errors
    /// If the lock was lost, or the server did not hear of it.
    pub async fn release(self) -> Result<()> {
        match self {
            Self::One(guard) => guard.release().await,
            Self::Several(guards) => guards.release().await,
        }
    }
}
