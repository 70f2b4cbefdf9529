//! Upgrading on a server that can be asked but not waited for.

use super::{Attempt, Listener, Pace, keeper, wait::wait_until};
use crate::lock::{Deadline, Result, Token};
use std::{
    future::Future,
    pin::Pin,
    sync::{Arc, OnceLock},
};
use tokio::sync::{Mutex, OwnedMutexGuard};

/// What became of one try to upgrade.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Upgrade {
    /// The owner is the writer now; with a token where the server has them.
    Done(Option<Token>),
    /// Readers are in the way.
    Busy,
}

/// Lets one upgrade of a hold through at a time. One that is abandoned half way is taken back
/// before the next begins: otherwise that could be the one taken back.
#[derive(Debug, Default)]
pub(super) struct UpgradeGate(OnceLock<Arc<Mutex<()>>>);

impl UpgradeGate {
    /// Waits until an upgrade that was abandoned has been taken back, so that the hold is known to
    /// be what its owner believes it is.
    pub(super) async fn settled(&self) {
        if let Some(gate) = self.0.get() {
            drop(gate.lock().await);
        }
    }

    /// Tries `up` until it is done or the deadline has passed; `Some` token when done. Whatever
    /// was, or may have been, done for a caller who left is undone by `down`.
    pub(super) async fn upgrade<Up, Down>(
        &self,
        deadline: Deadline,
        pace: Pace,
        listener: Option<Listener>,
        up: impl Fn() -> Up + Send + Sync,
        down: impl Fn() -> Down + Send + Sync,
    ) -> Result<Option<Option<Token>>>
    where
        Up: Future<Output = Result<Upgrade>> + Send + 'static,
        Down: Future<Output = Result<()>> + Send + 'static,
    {
        let gate = self.0.get_or_init(Arc::default);
        let upgraded = wait_until(deadline, pace, listener, || {
            let (gate, up, down) = (gate.clone(), up(), Box::pin(down()));
            async move {
                let undo = Undo {
                    gate: Some(gate.lock_owned().await),
                    down: Some(down),
                };
                Ok(match up.await? {
                    Upgrade::Done(token) => Attempt::Granted((undo, token)),
                    Upgrade::Busy => {
                        undo.not_needed();
                        Attempt::Busy { again_in: None }
                    }
                })
            }
        });
        Ok(upgraded.await?.map(|(undo, token)| {
            undo.not_needed();
            token
        }))
    }
}

/// An upgrade that may have happened; dropped, it is taken back behind the closed gate.
struct Undo {
    gate: Option<OwnedMutexGuard<()>>,
    down: Option<Pin<Box<dyn Future<Output = Result<()>> + Send>>>,
}

impl Undo {
    fn not_needed(mut self) {
        self.down = None;
    }
}

impl Drop for Undo {
    fn drop(&mut self) {
        let (gate, Some(down)) = (self.gate.take(), self.down.take()) else {
            return;
        };
        keeper::spawn(async move {
            if let Err(error) = down.await {
                tracing::warn!(%error, "an abandoned upgrade could not be taken back");
            }
            drop(gate);
        });
    }
}
