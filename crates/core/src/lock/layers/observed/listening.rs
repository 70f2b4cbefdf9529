//! Hearing of a loss when it happens, without a task that waits for it.

use crate::lock::{Loss, Lost, backend::keeper};
use std::{
    fmt,
    pin::Pin,
    sync::{Arc, Mutex, PoisonError},
    task::{Context, Wake, Waker},
};
use tokio::task::coop::unconstrained;

/// Calls back if a grant is lost. Dropped, it does not.
///
/// It polls the loss once, with a waker that calls back: a lock that is not lost, and most are not,
/// costs no task. Whoever tells of the loss may have a lock of its own in hand, so the call is made
/// on the keeper thread.
pub(super) struct Listening {
    /// The waker is in the list of those to be told for as long as this lives. In a mutex because
    /// holds are `Sync` and a future is not; nobody locks it again.
    _waiting: Mutex<Pin<Box<dyn Future<Output = Loss> + Send>>>,
}

struct Bell<F> {
    lost: Lost,
    /// `None` once rung: of several ways to be lost, the first counts.
    ring: Mutex<Option<F>>,
}

impl Listening {
    pub(super) fn new(lost: Lost, ring: impl FnOnce(Loss) + Send + 'static) -> Self {
        let bell = Arc::new(Bell {
            lost: lost.clone(),
            ring: Mutex::new(Some(ring)),
        });
        // Unconstrained: a task that has used up its budget would be told to come back, and this
        // never does.
        let mut waiting: Pin<Box<dyn Future<Output = Loss> + Send>> =
            Box::pin(unconstrained(lost.into_future()));
        let waker = Waker::from(bell.clone());
        let mut cx = Context::from_waker(&waker);
        if waiting.as_mut().poll(&mut cx).is_ready() {
            bell.ring();
        }
        Self {
            _waiting: Mutex::new(waiting),
        }
    }
}

impl<F: FnOnce(Loss) + Send + 'static> Bell<F> {
    fn ring(&self) {
        let Some(loss) = self.lost.get() else { return };
        let ring = self
            .ring
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        if let Some(ring) = ring {
            keeper::spawn(async move { ring(loss) });
        }
    }
}

impl<F: FnOnce(Loss) + Send + 'static> Wake for Bell<F> {
    fn wake(self: Arc<Self>) {
        self.ring();
    }
}

impl fmt::Debug for Listening {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Listening")
    }
}
