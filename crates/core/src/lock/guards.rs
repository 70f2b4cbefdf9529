//! Several held locks, as one.

use super::{Guard, Instant, Loss, Lost, Result, Token};
use std::future::Future;

/// Several locks held together; made by [`All`](super::All). Valid while all of them are, lost
/// when one of them is, released together when dropped.
#[derive(Debug)]
#[must_use = "the locks are released as soon as their guards are dropped"]
#[clippy::has_significant_drop]
pub struct Guards(Vec<Guard>);

impl Guards {
    pub(super) const fn new(guards: Vec<Guard>) -> Self {
        Self(guards)
    }

    /// Each lock's own guard, in the order of their names.
    pub fn iter(&self) -> std::slice::Iter<'_, Guard> {
        self.0.iter()
    }

    /// The token of the lock called `name`.
    #[must_use]
    pub fn token(&self, name: &str) -> Option<Token> {
        self.iter()
            .find(|guard| guard.name().as_str() == name)?
            .token()
    }

    /// The earliest end of any of them. See [`Guard::valid_until`].
    #[must_use]
    pub fn valid_until(&self) -> Option<Instant> {
        self.iter().filter_map(Guard::valid_until).min()
    }

    /// Whether all of them are still ours. See [`Guard::is_valid`].
    #[must_use]
    pub fn is_valid(&self) -> bool {
        self.iter().all(Guard::is_valid)
    }

    /// Resolves if any of them is lost.
    #[must_use]
    pub fn lost(&self) -> Lost {
        Lost::any(self.iter().map(Guard::lost))
    }

    /// Runs `work` for as long as all the locks are ours. See [`Guard::run`].
    ///
    /// # Errors
    /// [`Lost`](super::ErrorKind::Lost) if one was lost before `work` ended.
    ///
    /// # Cancel safety
    /// Dropping this drops `work`; the locks stay held.
    pub async fn run<T: Send>(&self, work: impl Future<Output = T> + Send) -> Result<T> {
        super::guard::run(|| self.loss(), self.lost(), work).await
    }

    /// Releases all of them, the last taken first, and waits until the server has heard of it.
    ///
    /// # Errors
    /// The first failure; the others are released all the same. See [`Guard::release`].
    ///
    /// # Cancel safety
    /// Dropping this stops the waiting, not the releases.
    pub async fn release(mut self) -> Result<()> {
        let mut outcome = Ok(());
        while let Some(guard) = self.0.pop() {
            outcome = outcome.and(guard.release().await);
        }
        outcome
    }

    fn loss(&self) -> Option<Loss> {
        self.iter().find_map(Guard::loss)
    }
}

impl<'a> IntoIterator for &'a Guards {
    type Item = &'a Guard;
    type IntoIter = std::slice::Iter<'a, Guard>;
    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}
