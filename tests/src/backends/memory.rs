//! The memory backend: clients are handles on one place. Also as a server would be that is slow and
//! never tells anybody when to ask again.

use crate::{BoxFuture, Harness, Promise, Residue, Started};
use lockwork::{
    Locks, Memory, Result,
    layers::{Chaos, Layer},
};
use std::{sync::Arc, time::Duration};

struct InMemory {
    place: Memory,
    chaos: Option<Chaos>,
}

/// A place of its own.
///
/// # Errors
/// Never.
pub fn start() -> Started {
    let place = Memory::new();
    Ok(Arc::new(InMemory { place, chaos: None }))
}

/// A place of its own behind a [`Chaos`] that delays and tells nobody anything: below the queue,
/// which has to make do with that.
///
/// # Errors
/// Never.
pub fn deaf() -> Started {
    let late = Duration::from_millis(4);
    let pause = Duration::from_millis(2);
    let chaos = Chaos::new(11).delay(0.2, late).deaf(pause);
    Ok(Arc::new(InMemory {
        place: Memory::new(),
        chaos: Some(chaos),
    }))
}

impl Harness for InMemory {
    fn client(&self, tenure: Duration) -> BoxFuture<'_, Result<Locks>> {
        let place = self.place.clone();
        let locks = match self.chaos {
            None => Locks::with_tenure(place, tenure),
            Some(chaos) => Locks::with_tenure(chaos.layer(place), tenure),
        };
        Box::pin(std::future::ready(Ok(locks)))
    }

    fn url(&self) -> Option<String> {
        None
    }

    fn sever(&self) -> Option<BoxFuture<'_, ()>> {
        Some(Box::pin(async {
            self.place.forget_everything();
        }))
    }

    fn mute(&self) {}

    fn residue(&self) -> Option<Residue> {
        let locks = self.place.len();
        Some(Residue { locks, waiters: 0 })
    }

    fn promises(&self, promise: Promise) -> bool {
        // Who is deaf asks now and then, so the place knows neither waiters nor their order.
        self.chaos.is_none()
            || matches!(
                promise,
                Promise::WholeNames
                    | Promise::NameSpaces
                    | Promise::KnowsHolders
                    | Promise::ListsHeld
                    | Promise::KnowsTokens
            )
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
