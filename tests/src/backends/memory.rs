//! The memory backend: clients are handles on one place.

use crate::{BoxFuture, Harness, Promise, Residue, Started};
use lockwork::{Locks, Memory, Result};
use std::{sync::Arc, time::Duration};

struct InMemory(Memory);

/// A place of its own.
///
/// # Errors
/// Never.
pub fn start() -> Started {
    Ok(Arc::new(InMemory(Memory::new())))
}

impl Harness for InMemory {
    fn client(&self, tenure: Duration) -> BoxFuture<'_, Result<Locks>> {
        let locks = Locks::with_tenure(self.0.clone(), tenure);
        Box::pin(std::future::ready(Ok(locks)))
    }

    fn url(&self) -> Option<String> {
        None
    }

    fn sever(&self) -> Option<BoxFuture<'_, ()>> {
        Some(Box::pin(async {
            self.0.forget_everything();
        }))
    }

    fn mute(&self) {}

    fn residue(&self) -> Option<Residue> {
        let locks = self.0.len();
        Some(Residue { locks, waiters: 0 })
    }

    fn promises(&self, _: Promise) -> bool {
        true
    }

    fn takeover(&self) -> Duration {
        Duration::from_secs(1)
    }

    fn notice(&self) -> Duration {
        Duration::from_millis(100)
    }

    fn patience(&self) -> Duration {
        Duration::from_millis(100)
    }
}
