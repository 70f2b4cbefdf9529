//! Any backend through a layer, which must change nothing that a case can see.

use crate::{BoxFuture, Harness, Promise, Residue, Started};
use lockwork::{Locks, Result};
use std::{sync::Arc, time::Duration};

struct Layered {
    inner: Arc<dyn Harness>,
    layer: fn(&Locks) -> Locks,
    renames: bool,
}

/// What `start` starts, each client through `layer`.
///
/// # Errors
/// Those of `start`.
pub fn around(start: fn() -> Started, layer: fn(&Locks) -> Locks) -> Started {
    through(start, layer, false)
}

/// The same for a layer that changes names: processes that do not go through it see other locks.
///
/// # Errors
/// Those of `start`.
pub fn renaming(start: fn() -> Started, layer: fn(&Locks) -> Locks) -> Started {
    through(start, layer, true)
}

fn through(start: fn() -> Started, layer: fn(&Locks) -> Locks, renames: bool) -> Started {
    Ok(Arc::new(Layered {
        inner: start()?,
        layer,
        renames,
    }))
}

impl Harness for Layered {
    fn client(&self, tenure: Duration) -> BoxFuture<'_, Result<Locks>> {
        Box::pin(async move { Ok((self.layer)(&self.inner.client(tenure).await?)) })
    }

    fn url(&self) -> Option<String> {
        if self.renames { None } else { self.inner.url() }
    }

    fn sever(&self) -> Option<BoxFuture<'_, ()>> {
        self.inner.sever()
    }

    fn mute(&self) {
        self.inner.mute();
    }

    fn residue(&self) -> Option<Residue> {
        self.inner.residue()
    }

    fn promises(&self, promise: Promise) -> bool {
        self.inner.promises(promise) && !(self.renames && promise == Promise::WholeNames)
    }

    fn drops(&self) -> u32 {
        self.inner.drops()
    }

    fn takeover(&self) -> Duration {
        self.inner.takeover()
    }

    fn notice(&self) -> Duration {
        self.inner.notice()
    }

    fn patience(&self) -> Duration {
        self.inner.patience()
    }
}
