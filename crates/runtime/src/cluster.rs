//! What nodes that share a store agree on, so that none does what another one is at. The store would let only one of
//! them count anyway: this saves the work.

use crate::{
    queue::{Doors, OpenDoors},
    refresher::DefinitionsRefresher,
    reloader::DefinitionsReloader,
    store::Store,
    turns::{LocalTurns, Turns},
};
use lockwork_core::workflow::Answer;
use std::{fmt, future::ready, sync::Arc, time::Duration};

/// What nodes agree on. Everything else is the same on one node and on many.
pub trait Cluster: fmt::Debug + Send + Sync {
    /// Who says whose turn it is with an instance.
    fn turns(&self) -> Arc<dyn Turns>;

    /// Who says which node may look for errands.
    fn doors(&self) -> Arc<dyn Doors>;

    /// What goes around the refresher of this node.
    fn refresher(&self, inner: Arc<dyn DefinitionsRefresher>) -> Arc<dyn DefinitionsRefresher>;

    /// What goes around the reloader of this node.
    fn reloader(&self, inner: Arc<dyn DefinitionsReloader>) -> Arc<dyn DefinitionsReloader>;

    /// How long a node keeps what it was handed at most, whatever [`Options::hold`](crate::Options::hold) says: others go
    /// on after that if it died.
    fn hold(&self) -> Duration;

    /// Called before this node looks for work.
    ///
    /// # Errors
    /// If nodes could not rely on it. The sentence says what to do.
    fn start<'a>(&'a self, store: &'a dyn Store) -> Answer<'a, ()>;

    /// Whether the node with this name can rely on it now. Called each time before the node says that it lives.
    ///
    /// # Errors
    /// What is wrong.
    fn check<'a>(&'a self, node: &'a str) -> Answer<'a, ()>;
}

/// One node that asks nobody.
#[derive(Debug)]
pub(crate) struct Alone {
    /// How long a request waits for its turn.
    pub(crate) patience: Duration,
}

impl Cluster for Alone {
    fn turns(&self) -> Arc<dyn Turns> {
        Arc::new(LocalTurns::new(self.patience))
    }

    fn doors(&self) -> Arc<dyn Doors> {
        Arc::new(OpenDoors)
    }

    fn refresher(&self, inner: Arc<dyn DefinitionsRefresher>) -> Arc<dyn DefinitionsRefresher> {
        inner
    }

    fn reloader(&self, inner: Arc<dyn DefinitionsReloader>) -> Arc<dyn DefinitionsReloader> {
        inner
    }

    fn hold(&self) -> Duration {
        Duration::MAX
    }

    fn start<'a>(&'a self, _store: &'a dyn Store) -> Answer<'a, ()> {
        Box::pin(ready(Ok(())))
    }

    fn check<'a>(&'a self, _node: &'a str) -> Answer<'a, ()> {
        Box::pin(ready(Ok(())))
    }
}
