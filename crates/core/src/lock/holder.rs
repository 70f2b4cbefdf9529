//! Who holds a lock, and who waits for it.

use super::{Mode, OwnerId, Token};
use std::time::SystemTime;

/// One grant, as the server tells it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Holder {
    /// Whose request was granted. Prints shortened.
    pub owner: OwnerId,
    /// How it is held.
    pub mode: Mode,
    /// Its token, where it has one. A lock passed on inside a process may have a later one there.
    pub token: Option<Token>,
    /// Since when, by the clock of whoever recorded it, where that is recorded.
    pub since: Option<SystemTime>,
    /// Host, process or connection, where that is recorded.
    pub client: Option<String>,
}

impl Holder {
    /// A holder about whom only this is known.
    #[must_use]
    pub const fn new(owner: OwnerId, mode: Mode) -> Self {
        Self {
            owner,
            mode,
            token: None,
            since: None,
            client: None,
        }
    }
}

/// One request that waits, as the server tells it. A process has at most one per lock there.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Waiting {
    /// Who waits. Prints shortened.
    pub owner: OwnerId,
    /// For what.
    pub mode: Mode,
}

impl Waiting {
    /// A request of `owner` in `mode`.
    #[must_use]
    pub const fn new(owner: OwnerId, mode: Mode) -> Self {
        Self { owner, mode }
    }
}

/// Who holds a lock and who waits for it, at one moment that has already passed.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Holders {
    /// Those who are in.
    pub holders: Vec<Holder>,
    /// Those who wait, in order, where the server knows them.
    pub waiting: Vec<Waiting>,
}

impl Holders {
    /// What the server tells about one lock.
    #[must_use]
    pub const fn new(holders: Vec<Holder>, waiting: Vec<Waiting>) -> Self {
        Self { holders, waiting }
    }
}
