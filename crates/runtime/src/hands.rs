//! The errands this node has in hand: kept as long as somebody is at them.

use crate::{
    clock::lock,
    store::{Held, Store},
};
use lockwork_core::workflow::{Result, Time};
use std::{
    collections::HashMap,
    sync::{Arc, Mutex},
};

/// What this node has in hand.
#[derive(Debug, Default)]
pub(crate) struct Hands {
    held: Mutex<HashMap<String, Held>>,
}

/// Something this node has in hand, until dropped.
#[derive(Debug)]
pub(crate) struct Kept {
    hands: Arc<Hands>,
    held: Held,
}

impl Hands {
    pub(crate) fn keep(self: &Arc<Self>, held: Held) -> Kept {
        lock(&self.held).insert(held.hold.clone(), held.clone());
        Kept {
            hands: Arc::clone(self),
            held,
        }
    }

    /// Tells the store that somebody is still at it, until then. What is not ours any more will be refused when it is committed.
    pub(crate) async fn renew(&self, store: &dyn Store, until: Time) -> Result<()> {
        let held: Vec<_> = lock(&self.held).values().cloned().collect();
        if !held.is_empty() {
            store.renew(&held, until).await?;
        }
        Ok(())
    }
}

impl Kept {
    pub(crate) const fn held(&self) -> &Held {
        &self.held
    }
}

impl Drop for Kept {
    fn drop(&mut self) {
        lock(&self.hands.held).remove(&self.held.hold);
    }
}
