//! A guard's grip on its hold, which `max_hold` can open from outside.

use super::{
    AnyHold, Deadline, Hold, Instant, Loss, LossSignal, Lost, Result, Token, backend::keeper, clock,
};
use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};
use tokio::task::AbortHandle;

/// What a guard holds its lock with.
#[derive(Debug)]
pub(super) enum Grip {
    /// Until the guard lets go.
    Plain(AnyHold),
    /// Until the guard lets go or its time is up.
    Timed(Box<Timed>),
}

impl Grip {
    pub(super) fn new(hold: AnyHold, max_hold: Option<Duration>) -> Self {
        match max_hold {
            None => Self::Plain(hold),
            Some(limit) => Self::Timed(Box::new(Timed::new(hold, Instant::now() + limit))),
        }
    }

    pub(super) fn token(&self) -> Option<Token> {
        match self {
            Self::Plain(hold) => hold.token(),
            Self::Timed(timed) => timed.cell.read(AnyHold::token).flatten(),
        }
    }

    pub(super) fn lost(&self) -> Lost {
        match self {
            Self::Plain(hold) => hold.lost(),
            Self::Timed(timed) => timed.lost.clone(),
        }
    }

    pub(super) fn valid_until(&self) -> Option<Instant> {
        match self {
            Self::Plain(hold) => hold.valid_until(),
            Self::Timed(timed) => {
                let hold = timed.cell.read(AnyHold::valid_until).flatten();
                Some(hold.map_or(timed.until, |hold| hold.min(timed.until)))
            }
        }
    }

    #[cfg(unix)]
    pub(super) fn descriptors(&self) -> std::io::Result<Vec<std::os::fd::OwnedFd>> {
        match self {
            Self::Plain(hold) => hold.descriptors(),
            Self::Timed(timed) => timed
                .cell
                .read(AnyHold::descriptors)
                .unwrap_or_else(|| Ok(Vec::new())),
        }
    }

    /// The loss, if it has happened, whether or not anybody was told.
    pub(super) fn loss(&self) -> Option<Loss> {
        let overdue = match self {
            Self::Timed(timed) if timed.until.has_passed() => Some(Loss::HeldTooLong),
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
            Self::Timed(timed) => match timed.cell.take() {
                Some(hold) => hold.release().await,
                None => Ok(()),
            },
        }
    }
}

/// A hold that is given back when its time is up, although its guard still exists.
#[derive(Debug)]
pub(super) struct Timed {
    cell: Arc<Cell>,
    until: Instant,
    lost: Lost,
    timer: AbortHandle,
}

#[derive(Debug)]
struct Cell {
    /// `None` once given back, or while an upgrade has it.
    hold: Mutex<Option<AnyHold>>,
    signal: LossSignal,
}

impl Timed {
    fn new(hold: AnyHold, until: Instant) -> Self {
        let (signal, too_long) = Lost::signal();
        let lost = Lost::any([hold.lost(), too_long]);
        let cell = Arc::new(Cell {
            hold: Mutex::new(Some(hold)),
            signal,
        });
        let timer = keeper::spawn({
            let cell = cell.clone();
            async move {
                clock::nap_until(until).await;
                cell.signal.lose(Loss::HeldTooLong);
                drop(cell.take());
            }
        });
        Self {
            cell,
            until,
            lost,
            timer: timer.abort_handle(),
        }
    }

    async fn upgrade(&mut self, deadline: Deadline) -> Result<bool> {
        let Some(mut out) = TakenOut::of(&self.cell, self.until) else {
            return Err(Loss::HeldTooLong.into());
        };
        let limit = match deadline {
            Deadline::Never => Deadline::At(self.until),
            Deadline::At(when) => Deadline::At(when.min(self.until)),
            Deadline::Now => Deadline::Now,
        };
        let upgraded = out.hold_mut().upgrade(limit).await?;
        if self.until.has_passed() {
            Err(Loss::HeldTooLong.into())
        } else {
            Ok(upgraded)
        }
    }
}

/// A hold out of the timer's reach, because what is half upgraded cannot be given back. It goes
/// back where it was when this is dropped, or to the server if its time came meanwhile.
struct TakenOut<'a> {
    cell: &'a Cell,
    hold: Option<AnyHold>,
    until: Instant,
}

impl<'a> TakenOut<'a> {
    fn of(cell: &'a Cell, until: Instant) -> Option<Self> {
        cell.take().map(|hold| Self {
            cell,
            hold: Some(hold),
            until,
        })
    }

    fn hold_mut(&mut self) -> &mut AnyHold {
        self.hold
            .as_mut()
            .expect("it is there until this is dropped")
    }
}

impl Drop for TakenOut<'_> {
    fn drop(&mut self) {
        let mut place = self.cell.lock();
        *place = self.hold.take();
        // The timer looks under the same lock: either it finds the hold there, or it has been
        // here before and its time has passed.
        let overdue = if self.until.has_passed() {
            place.take()
        } else {
            None
        };
        drop(place);
        drop(overdue);
    }
}

impl Drop for Timed {
    fn drop(&mut self) {
        self.timer.abort();
    }
}

impl Cell {
    fn read<T>(&self, ask: impl FnOnce(&AnyHold) -> T) -> Option<T> {
        self.lock().as_ref().map(ask)
    }

    fn take(&self) -> Option<AnyHold> {
        self.lock().take()
    }

    fn lock(&self) -> MutexGuard<'_, Option<AnyHold>> {
        // Nothing that can panic runs under this lock.
        self.hold.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
