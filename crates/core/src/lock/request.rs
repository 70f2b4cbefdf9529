//! The one question a backend answers.

use super::{Instant, LockId, Mode, Name, OwnerId, backend::Releases};
use std::time::Duration;

/// How long to wait for a lock that somebody else has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Wait {
    /// Ask once.
    No,
    /// Ask, and go on asking for this long. Zero is the same as [`Wait::No`], never forever.
    For(Duration),
    /// Until it is free.
    #[default]
    Forever,
}

impl Wait {
    /// When this wait, begun now, runs out.
    #[must_use]
    pub fn deadline(self) -> Deadline {
        match self {
            Self::No => Deadline::Now,
            Self::For(limit) if limit.is_zero() => Deadline::Now,
            Self::For(limit) => Deadline::At(Instant::now() + limit),
            Self::Forever => Deadline::Never,
        }
    }
}

/// When a wait runs out. Absolute, so that layers and retries share one budget.
///
/// Whatever the deadline, and even when it has passed, a backend asks its server at least once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Deadline {
    /// Ask once, wait for nobody.
    Now,
    /// Wait until then.
    At(Instant),
    /// Wait until granted.
    Never,
}

impl Deadline {
    /// Whether there is no time left to wait.
    #[must_use]
    pub fn has_passed(self) -> bool {
        match self {
            Self::Now => true,
            Self::At(when) => when.has_passed(),
            Self::Never => false,
        }
    }

    /// How much time is left to wait; `None` for ever.
    #[must_use]
    pub fn remaining(self) -> Option<Duration> {
        match self {
            Self::Now => Some(Duration::ZERO),
            Self::At(when) => Some(when.remaining()),
            Self::Never => None,
        }
    }

    /// Waits for `event`, but not past this deadline: then `None`.
    ///
    /// # Cancel safety
    /// Dropping this drops `event`; nothing else happens.
    pub async fn wait_for<T: Send>(self, event: impl Future<Output = T> + Send) -> Option<T> {
        match self {
            Self::Now => tokio::select! {
                biased;
                done = event => Some(done),
                () = std::future::ready(()) => None,
            },
            Self::At(when) => tokio::select! {
                biased;
                done = event => Some(done),
                () = super::clock::sleep_until(when) => None,
            },
            Self::Never => Some(event.await),
        }
    }
}

/// What is left of a deadline, as a wait that begins now.
impl From<Deadline> for Wait {
    fn from(deadline: Deadline) -> Self {
        deadline.remaining().map_or(Self::Forever, Self::For)
    }
}

/// One request: which lock, in which mode, for whom, until when.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Request {
    /// The lock's name, in the name space of [`Mode::space`].
    pub name: Name,
    /// How to hold it.
    pub mode: Mode,
    /// Made once; every attempt at this request carries the same.
    pub owner: OwnerId,
    /// When to stop waiting. Made once.
    pub deadline: Deadline,
    /// How long a grant may outlive its holder, where the backend grants leases and can choose.
    pub lease: Option<Duration>,
    /// Whether a lease is renewed for as long as the guard lives.
    pub renew: bool,
    /// Where to count the release of what is granted to nobody any more.
    pub releases: Releases,
}

impl Request {
    /// A request by a new owner.
    #[must_use]
    pub fn new(name: Name, mode: Mode, deadline: Deadline) -> Self {
        Self {
            name,
            mode,
            owner: OwnerId::random(),
            deadline,
            lease: None,
            renew: true,
            releases: Releases::new(),
        }
    }

    /// The same request by a new owner.
    ///
    /// For a request that was dropped half way and is put again: the first attempt may be granted
    /// late and is then given back by its owner, which must not be the second one's.
    #[must_use]
    pub fn asked_anew(self) -> Self {
        Self {
            owner: OwnerId::random(),
            ..self
        }
    }

    /// Which lock this asks for.
    #[must_use]
    pub fn id(&self) -> LockId {
        LockId::new(self.mode.space(), self.name.clone())
    }
}
