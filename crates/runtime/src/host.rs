//! What whoever puts a runtime on a network needs of it, whether it is alone or one of many.

use crate::{Drained, LocalRuntime};
use lockwork_core::workflow::Runtime;
use std::{future::Future, pin::Pin};

/// An end under way.
pub type Draining<'a> = Pin<Box<dyn Future<Output = Drained> + Send + 'a>>;

/// A runtime that is a node: alone on its store, or one of many.
pub trait Host: Runtime {
    /// What runs here.
    fn local(&self) -> &LocalRuntime;

    /// Ends, as [`LocalRuntime::drain`] does, and gives back whatever keeps others out.
    fn drain(&self) -> Draining<'_>;
}

impl Host for LocalRuntime {
    fn local(&self) -> &LocalRuntime {
        self
    }

    fn drain(&self) -> Draining<'_> {
        Box::pin(Self::drain(self))
    }
}
