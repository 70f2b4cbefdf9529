//! Locks that live at a server, by one crate each, and what all cells of such locks share.

mod lockwork;
mod process;
pub(super) mod tasks;

pub(super) use lockwork::{Lockwork, ROLES};
pub(super) use process::{Process, keep_until_alone};

use super::{ON_TWO_CORES, directory, handoff, pair::Setting};
use crate::cell::{Figure, Outcome, Turns};
use std::{fs, path::Path, time::Duration};
use tempfile::TempDir;

/// A lock of one name at a server.
pub(super) trait Kind: Clone + Send + Sync + 'static {
    type Guard: Send + 'static;

    /// So many locks of different names, in one process.
    fn several(url: &str, names: u64) -> impl Future<Output = Outcome<Vec<Self>>> + Send;

    fn take(&self) -> impl Future<Output = Outcome<Self::Guard>> + Send;

    /// Gives it back, and hears that it was.
    fn give(guard: Self::Guard) -> impl Future<Output = Outcome<()>> + Send;
}

/// One that two processes hand to each other.
pub(super) trait Handed: Kind {
    /// What the two are told to do with it.
    const HANDOFF: [&str; 2];
}

/// The file that tells other processes where the server is.
const ADDRESS: &str = "url";

impl<K: Handed> handoff::Kind for K {
    const HANDOFF: [&str; 2] = <K as Handed>::HANDOFF;
    type Guard = <K as Kind>::Guard;

    async fn in_directory(directory: &Path) -> Outcome<Self> {
        let lock = K::several(&address_in(directory)?, 1).await?.pop();
        Ok(lock.ok_or("a lock was asked for")?)
    }

    async fn take(&self) -> Outcome<Self::Guard> {
        Kind::take(self).await
    }

    async fn let_go(guard: Self::Guard) -> Outcome<()> {
        K::give(guard).await
    }
}

/// A directory that tells other processes of `url`.
pub(super) fn directory_of(url: &str) -> Outcome<TempDir> {
    let directory = directory()?;
    fs::write(directory.path().join(ADDRESS), url)?;
    Ok(directory)
}

/// What that directory tells.
pub(super) fn address_in(directory: &Path) -> Outcome<String> {
    Ok(fs::read_to_string(directory.join(ADDRESS))?)
}

/// The names of locks.
pub(super) fn name(number: u64) -> String {
    format!("invoices/{number:05}")
}

/// Long enough for whoever waits to have told the server.
const REGISTERED: Setting = Setting {
    pause: Duration::from_millis(3),
    ..ON_TWO_CORES
};

/// Two processes that hand one lock to each other.
pub(super) fn between<K: Handed>(url: &str, figures: &'static [Figure]) -> Outcome<Turns> {
    handoff::between::<K>(REGISTERED, directory_of(url)?, figures)
}
