//! Upgrading on a server that can be asked but not waited for.

use super::{Attempt, Listener, Pace, Shield, wait::wait_until};
use crate::lock::{Deadline, Result, Token};
use std::{
    future::Future,
    pin::Pin,
    sync::{Arc, OnceLock},
    task::{Context, Waker},
};
use tokio::sync::Mutex;

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

    /// Tries `up` until it is done or the deadline has passed; `Some` token when done. In any
    /// other case, this being dropped half way included, `down` takes back what was done and the
    /// wish for it, in the background.
    pub(super) async fn upgrade<Up, Down>(
        &self,
        deadline: Deadline,
        pace: Pace,
        listener: Option<Listener>,
        up: impl Fn() -> Up + Send + Sync,
        down: Down,
    ) -> Result<Option<Option<Token>>>
    where
        Up: Future<Output = Result<Upgrade>> + Send + 'static,
        Down: Future<Output = Result<()>> + Send + 'static,
    {
        let gate = self.0.get_or_init(Arc::default);
        // Dropped after the tries below it, so it finds the gate closed by one still under way.
        let undo = Undo {
            gate: gate.clone(),
            down: Some(Box::pin(down)),
        };
        let upgraded = wait_until(deadline, pace, listener, || {
            let (gate, up) = (gate.clone(), up());
            async move {
                let _closed = gate.lock_owned().await;
                Ok(match up.await? {
                    Upgrade::Done(token) => Attempt::Granted(token),
                    Upgrade::Busy => Attempt::Busy { again_in: None },
                })
            }
        })
        .await?;
        if upgraded.is_some() {
            undo.not_needed();
        }
        Ok(upgraded)
    }
}

/// An upgrade that may have happened; dropped, it is taken back behind the closed gate.
struct Undo {
    gate: Arc<Mutex<()>>,
    down: Option<Pin<Box<dyn Future<Output = Result<()>> + Send>>>,
}

impl Undo {
    fn not_needed(mut self) {
        self.down = None;
    }
}

impl Drop for Undo {
    fn drop(&mut self) {
        let (gate, Some(down)) = (self.gate.clone(), self.down.take()) else {
            return;
        };
        let mut undoing = Shield::new(async move {
            let _closed = gate.lock_owned().await;
            if let Err(error) = down.await {
                tracing::warn!(%error, "an upgrade could not be taken back");
            }
        });
        // One poll, which takes a place at the gate before anybody who comes later.
        let _ = Pin::new(&mut undoing).poll(&mut Context::from_waker(Waker::noop()));
    }
}
