//! What two or a thousand tasks hand around: a mutex of lockwork, or tokio's, with one face.

use crate::cell::Outcome;
use std::{future::poll_fn, pin::pin, sync::Arc};

/// A mutex.
pub(super) trait Baton: Clone + Send + Sync + 'static {
    type Guard: Send;

    fn take(&self) -> impl Future<Output = Outcome<Self::Guard>> + Send;

    /// How many requests wait where the lock lives.
    fn waiting(&self) -> impl Future<Output = Outcome<usize>> + Send;
}

impl Baton for lockwork::Mutex {
    type Guard = lockwork::Guard;

    async fn take(&self) -> Outcome<Self::Guard> {
        Ok(self.lock().await?)
    }

    async fn waiting(&self) -> Outcome<usize> {
        Ok(self.holders().await?.waiting.len())
    }
}

impl Baton for Arc<tokio::sync::Mutex<()>> {
    type Guard = tokio::sync::OwnedMutexGuard<()>;

    async fn take(&self) -> Outcome<Self::Guard> {
        Ok(self.clone().lock_owned().await)
    }

    /// It does not tell.
    async fn waiting(&self) -> Outcome<usize> {
        Ok(0)
    }
}

/// Takes `baton`; `queued` is called whenever that has to wait, and then its place in line is
/// taken: no sleep has to be long enough for it.
pub(super) async fn take<B: Baton>(
    baton: &B,
    mut queued: impl FnMut() + Send,
) -> Outcome<B::Guard> {
    let mut taking = pin!(baton.take());
    poll_fn(|cx| {
        let taken = taking.as_mut().poll(cx);
        if taken.is_pending() {
            queued();
        }
        taken
    })
    .await
}
