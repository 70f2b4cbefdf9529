//! A guard's grip on its hold, which `max_hold` can open from outside.

use super::{AnyHold, Deadline, Hold, Instant, Loss, Lost, Result, Token, timed::Timed};
use std::time::Duration;

/// What a guard holds its lock with.
#[derive(Debug)]
pub(super) enum Grip {
    /// Until the guard lets go.
    Plain(AnyHold),
    /// Until the guard lets go or its time is up.
    Timed(Box<Timed<AnyHold>>),
}

impl Grip {
    pub(super) fn new(hold: AnyHold, max_hold: Option<Duration>) -> Self {
        match max_hold {
            None => Self::Plain(hold),
            Some(limit) => {
                let until = Instant::now() + limit;
                Self::Timed(Box::new(Timed::new(hold, until, Loss::HeldTooLong)))
            }
        }
    }

    pub(super) fn token(&self) -> Option<Token> {
        match self {
            Self::Plain(hold) => hold.token(),
            Self::Timed(timed) => timed.read(AnyHold::token).flatten(),
        }
    }

    pub(super) fn lost(&self) -> Lost {
        match self {
            Self::Plain(hold) => hold.lost(),
            Self::Timed(timed) => timed.lost(),
        }
    }

    pub(super) fn valid_until(&self) -> Option<Instant> {
        match self {
            Self::Plain(hold) => hold.valid_until(),
            Self::Timed(timed) => {
                let hold = timed.read(AnyHold::valid_until).flatten();
                Some(hold.map_or(timed.until(), |hold| hold.min(timed.until())))
            }
        }
    }

    #[cfg(unix)]
    pub(super) fn descriptors(&self) -> std::io::Result<Vec<std::os::fd::OwnedFd>> {
        match self {
            Self::Plain(hold) => hold.descriptors(),
            Self::Timed(timed) => timed
                .read(AnyHold::descriptors)
                .unwrap_or_else(|| Ok(Vec::new())),
        }
    }

    /// The loss, if it has happened, whether or not anybody was told.
    pub(super) fn loss(&self) -> Option<Loss> {
        let overdue = match self {
            Self::Timed(timed) if timed.until().has_passed() => Some(Loss::HeldTooLong),
            Self::Plain(_) | Self::Timed(_) => None,
        };
        let expired = || {
            self.valid_until()
                .is_some_and(Instant::has_passed)
                .then_some(Loss::Expired)
        };
        self.lost().get().or(overdue).or_else(expired)
    }

    pub(super) async fn upgrade(&mut self, deadline: Deadline) -> Result<bool> {
        match self {
            Self::Plain(hold) => hold.upgrade(deadline).await,
            Self::Timed(timed) => timed.upgrade(deadline).await,
        }
    }

    pub(super) async fn release(self) -> Result<()> {
        match self {
            Self::Plain(hold) => hold.release().await,
            Self::Timed(timed) => timed.release().await,
        }
    }
}
