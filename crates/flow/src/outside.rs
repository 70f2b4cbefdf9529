//! What a burst has to be told: the time, what is defined, and whether it may go on.

use lockwork_core::workflow::{DefinitionHandle, Result, Time, VersionId};
use std::{fmt, future::Future, pin::Pin};

/// Something under way that is told by somebody else.
pub type Told<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// What a burst has to be told. There is no other way from it to a clock, a store or a lock.
pub trait Outside: fmt::Debug + Send + Sync {
    /// What time it is.
    fn now(&self) -> Time;

    /// Which version `handle` means at this moment.
    fn version<'a>(&'a self, handle: &'a DefinitionHandle) -> Told<'a, Result<VersionId>>;

    /// Ends when nothing of this burst counts any more: the lock was lost. An activity that waits for something
    /// else should wait for this too, and is dropped anyway.
    fn lost(&self) -> Told<'static, ()> {
        Box::pin(std::future::pending())
    }

    /// Whether [`lost`](Self::lost) has ended. Asked right before an activity is called, however often that is within one
    /// step: while one worked without awaiting anything, nobody could be told.
    fn is_lost(&self) -> bool {
        false
    }

    /// What foreign systems may be given to tell this burst from an earlier one of the same instance: a number
    /// that rises.
    fn fence(&self) -> Option<u64> {
        None
    }
}
