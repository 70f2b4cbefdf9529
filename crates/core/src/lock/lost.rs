//! Being told that a grant is gone.

use super::{Error, ErrorKind};
use std::{
    fmt,
    future::{Future, IntoFuture, pending, poll_fn},
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Acquire},
    },
    task::Poll,
};
use tokio::sync::SetOnce;

/// Why a grant ended before its guard did.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Loss {
    /// Its time ran out by the holder's own clock, and no renewal was known to have succeeded.
    Expired,
    /// The server says that it is somebody else's or nobody's.
    Taken,
    /// The connection it lived on is gone.
    Disconnected,
    /// It reached [`LockOptions::max_hold`](super::LockOptions::max_hold).
    HeldTooLong,
}

impl Loss {
    /// A sentence for people.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Expired => "its time ran out before it was known to be renewed",
            Self::Taken => "the server no longer grants it to this holder",
            Self::Disconnected => "the connection it lived on is gone",
            Self::HeldTooLong => "it was held for longer than max_hold allows",
        }
    }
}

impl fmt::Display for Loss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl From<Loss> for Error {
    fn from(loss: Loss) -> Self {
        Self::new(ErrorKind::Lost, "the lock was lost").with("why", loss)
    }
}

/// Resolves once, if the grant is lost. Clone it into the task that does the work.
///
/// ```
/// use lockwork_core::lock::{Loss, Lost};
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() {
/// let (signal, lost) = Lost::signal();
/// assert_eq!(lost.get(), None);
/// signal.lose(Loss::Taken);
/// signal.lose(Loss::Expired); // the first loss is the one that counts
/// assert_eq!(lost.await, Loss::Taken);
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Lost(Watch);

#[derive(Clone, Debug)]
enum Watch {
    Never,
    Cell(Arc<SetOnce<Loss>>),
    Any(Arc<[Lost]>),
    /// What it watches ends for many; this one may be over before.
    Share(Arc<SetOnce<Loss>>, Arc<AtomicBool>),
}

type Waiting = Pin<Box<dyn Future<Output = Loss> + Send>>;

impl Lost {
    /// For grants that cannot be taken away.
    #[must_use]
    pub const fn never() -> Self {
        Self(Watch::Never)
    }

    /// A new grant's two halves.
    #[must_use]
    pub fn signal() -> (LossSignal, Self) {
        let cell = Arc::new(SetOnce::new());
        (LossSignal(cell.clone()), Self(Watch::Cell(cell)))
    }

    /// Lost as soon as any of `several` is.
    #[must_use]
    pub fn any(several: impl IntoIterator<Item = Self>) -> Self {
        Self(Watch::Any(several.into_iter().collect()))
    }

    /// The same loss for one of many who share it: it hears of none once `over` is set.
    pub(crate) fn share(&self, over: Arc<AtomicBool>) -> Self {
        match &self.0 {
            Watch::Cell(cell) => Self(Watch::Share(cell.clone(), over)),
            _ => self.clone(),
        }
    }

    /// The loss, if it has happened.
    #[must_use]
    pub fn get(&self) -> Option<Loss> {
        match &self.0 {
            Watch::Never => None,
            Watch::Cell(cell) => cell.get().copied(),
            Watch::Any(several) => several.iter().find_map(Self::get),
            Watch::Share(cell, over) => cell.get().copied().filter(|_| !over.load(Acquire)),
        }
    }
}

impl IntoFuture for Lost {
    type Output = Loss;
    type IntoFuture = Waiting;

    fn into_future(self) -> Waiting {
        match self.0 {
            Watch::Never => Box::pin(pending()),
            Watch::Cell(cell) => Box::pin(async move { *cell.wait().await }),
            Watch::Share(cell, over) => Box::pin(async move {
                let loss = *cell.wait().await;
                if over.load(Acquire) {
                    pending().await
                } else {
                    loss
                }
            }),
            Watch::Any(several) => Box::pin(first(
                several.iter().cloned().map(Self::into_future).collect(),
            )),
        }
    }
}

async fn first(mut several: Vec<Waiting>) -> Loss {
    poll_fn(|cx| {
        let ready = several
            .iter_mut()
            .find_map(|one| match one.as_mut().poll(cx) {
                Poll::Ready(loss) => Some(loss),
                Poll::Pending => None,
            });
        ready.map_or(Poll::Pending, Poll::Ready)
    })
    .await
}

/// The sending half of [`Lost`], kept by whoever watches the grant.
#[derive(Clone, Debug)]
pub struct LossSignal(Arc<SetOnce<Loss>>);

impl LossSignal {
    /// Tells every clone of [`Lost`]. The first loss is the one that counts.
    pub fn lose(&self, loss: Loss) {
        // An error only says that it was lost before.
        let _ = self.0.set(loss);
    }
}
