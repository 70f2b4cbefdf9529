//! A hold that is given back when its time is up, although its owner still has it.

use super::{Deadline, Hold, Instant, Loss, LossSignal, Lost, Result, backend::keeper, clock};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::task::AbortHandle;

/// A hold that is given back when its time is up, although its owner still has it, and is lost from
/// then on. Dropping `H` must release it: an [`AnyHold`](super::AnyHold), an
/// [`Owned`](super::backend::Owned).
#[derive(Debug)]
pub(super) struct Timed<H: Hold> {
    cell: Arc<Cell<H>>,
    until: Instant,
    loss: Loss,
    lost: Lost,
    timer: AbortHandle,
}

#[derive(Debug)]
struct Cell<H> {
    /// `None` once given back, or while an upgrade has it.
    hold: Mutex<Option<H>>,
    signal: LossSignal,
}

impl<H: Hold> Timed<H> {
    /// `hold`, which ends by `loss` at `until`.
    pub(super) fn new(hold: H, until: Instant, loss: Loss) -> Self {
        let (signal, over) = Lost::signal();
        let lost = Lost::any([hold.lost(), over]);
        let cell = Arc::new(Cell {
            hold: Mutex::new(Some(hold)),
            signal,
        });
        let timer = keeper::spawn({
            let cell = cell.clone();
            async move {
                clock::nap_until(until).await;
                cell.signal.lose(loss);
                drop(cell.take());
            }
        });
        Self {
            cell,
            until,
            loss,
            lost,
            timer: timer.abort_handle(),
        }
    }

    pub(super) const fn until(&self) -> Instant {
        self.until
    }

    pub(super) fn lost(&self) -> Lost {
        self.lost.clone()
    }

    /// Asks the hold; `None` once it was given back.
    pub(super) fn read<T>(&self, ask: impl FnOnce(&H) -> T) -> Option<T> {
        self.cell.lock().as_ref().map(ask)
    }

    pub(super) async fn upgrade(&mut self, deadline: Deadline) -> Result<bool> {
        let Some(mut out) = TakenOut::of(&self.cell, self.until) else {
            return Err(self.loss.into());
        };
        let limit = match deadline {
            Deadline::Never => Deadline::At(self.until),
            Deadline::At(when) => Deadline::At(when.min(self.until)),
            Deadline::Now => Deadline::Now,
        };
        let upgraded = out.hold_mut().upgrade(limit).await?;
        if self.until.has_passed() {
            Err(self.loss.into())
        } else {
            Ok(upgraded)
        }
    }

    /// Gives the hold back, unless that has happened.
    pub(super) async fn release(self) -> Result<()> {
        match self.cell.take() {
            Some(hold) => hold.release().await,
            None => Ok(()),
        }
    }
}

/// A hold out of the timer's reach, because what is half upgraded cannot be given back. It goes
/// back where it was when this is dropped, or to the server if its time came meanwhile.
struct TakenOut<'a, H> {
    cell: &'a Cell<H>,
    hold: Option<H>,
    until: Instant,
}

impl<'a, H> TakenOut<'a, H> {
    fn of(cell: &'a Cell<H>, until: Instant) -> Option<Self> {
        cell.take().map(|hold| Self {
            cell,
            hold: Some(hold),
            until,
        })
    }

    const fn hold_mut(&mut self) -> &mut H {
        self.hold
            .as_mut()
            .expect("it is there until this is dropped")
    }
}

impl<H> Drop for TakenOut<'_, H> {
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

impl<H: Hold> Drop for Timed<H> {
    fn drop(&mut self) {
        self.timer.abort();
        // Here and now: the timer's task may live on for a moment and would keep the hold so long.
        drop(self.cell.take());
    }
}

impl<H> Cell<H> {
    fn take(&self) -> Option<H> {
        self.lock().take()
    }

    fn lock(&self) -> MutexGuard<'_, Option<H>> {
        // Nothing that can panic runs under this lock.
        self.hold.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
