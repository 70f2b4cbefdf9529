//! Who holds a lock, and who waits for it; and which locks are held.

use super::{Mode, OwnerId, Space, Token};
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

/// A lock that somebody holds, as a server that was asked for all of them tells it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Held {
    /// Whose name space.
    pub space: Space,
    /// Its name, or as much of it as the server keeps.
    pub name: String,
    /// Whether that is the name. If not, it is a beginning, in which other characters may stand for some.
    pub is_whole: bool,
    /// Who holds it, and who waits.
    pub holders: Holders,
}

impl Held {
    /// The lock in `space` with this name.
    #[must_use]
    pub const fn whole(space: Space, name: String, holders: Holders) -> Self {
        Self {
            space,
            name,
            is_whole: true,
            holders,
        }
    }

    /// A lock in `space` of whose name no more is known than what it looks like at its beginning.
    #[must_use]
    pub const fn beginning(space: Space, name: String, holders: Holders) -> Self {
        Self {
            space,
            name,
            is_whole: false,
            holders,
        }
    }

    /// The same without what its name begins with; `None` if it does not.
    pub(super) fn without(mut self, prefix: &str) -> Option<Self> {
        self.name = match self.is_whole {
            true => self.name.strip_prefix(prefix)?.to_owned(),
            // What it looks like has a character for each.
            false => self.name.chars().skip(prefix.chars().count()).collect(),
        };
        Some(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_loses_the_prefix_that_it_has() {
        let whole = |name: &str| Held::whole(Space::Mutex, name.into(), Holders::default());
        let cut = |held: Held| held.without("ä/").map(|held| held.name);
        assert_eq!(cut(whole("ä/x")).as_deref(), Some("x"));
        assert_eq!(cut(whole("x")), None);
        let shown = Held::beginning(Space::Mutex, "__x".into(), Holders::default());
        assert_eq!(cut(shown).as_deref(), Some("x"));
    }
}
