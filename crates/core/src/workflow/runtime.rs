//! What runs workflows, on one node or on many.

use super::{Cancelled, Create, CreateAndRun, Created, InstanceId, Ran, Result, Run, Value};
use std::{fmt, future::Future, pin::Pin, sync::Arc};

/// An answer under way.
pub type Answer<'a, T> = Pin<Box<dyn Future<Output = Result<T>> + Send + 'a>>;

/// Gives out [clients](Client).
pub trait Runtime: fmt::Debug + Send + Sync {
    /// A client for the instance called `id`, or for a new one. Asks nobody, and the instance need not exist.
    fn client(&self, id: Option<InstanceId>) -> Arc<dyn Client>;
}

/// Does things with one instance.
///
/// # Cancel safety
/// Dropped half way, a request may have been carried out or not, and is never carried out in part. A burst whose
/// [`run`](Self::run) is dropped goes on to its end.
pub trait Client: fmt::Debug + Send + Sync {
    /// The instance.
    fn id(&self) -> &InstanceId;

    /// Creates it. Nothing of it is executed.
    ///
    /// # Errors
    /// [`NotFound`](super::ErrorKind::NotFound) if there is no such definition,
    /// [`Conflict`](super::ErrorKind::Conflict) if it exists already, or another one like it runs and the
    /// definition allows one only.
    fn create(&self, request: Create) -> Answer<'_, Created>;

    /// Runs it until it waits or is over.
    ///
    /// # Errors
    /// [`NotFound`](super::ErrorKind::NotFound) if it does not exist, [`Busy`](super::ErrorKind::Busy) if
    /// somebody else runs it for longer than one is ready to wait, [`Fenced`](super::ErrorKind::Fenced) if
    /// somebody else has claimed it meanwhile. That an activity failed is no error: see [`Ran::incidents`].
    fn run(&self, request: Run) -> Answer<'_, Ran>;

    /// Creates it and runs it. It exists before anything of it is executed.
    ///
    /// # Errors
    /// Those of [`create`](Self::create) and [`run`](Self::run).
    fn create_and_run(&self, request: CreateAndRun) -> Answer<'_, Ran>;

    /// Ends it, at the next step if it runs.
    ///
    /// # Errors
    /// [`NotFound`](super::ErrorKind::NotFound) if it does not exist.
    fn cancel(&self) -> Answer<'_, Cancelled>;

    /// Removes it and everything that belongs to it, running or not. Says whether there was something.
    ///
    /// # Errors
    /// [`Busy`](super::ErrorKind::Busy) as for [`run`](Self::run).
    fn delete(&self) -> Answer<'_, bool>;

    /// What is known of it, without what is secret: see [`import`](Self::import).
    ///
    /// # Errors
    /// [`NotFound`](super::ErrorKind::NotFound) if it does not exist.
    fn export(&self) -> Answer<'_, Value>;

    /// Makes it what [`export`](Self::export) gave. Whoever works on it at that moment is fenced off.
    ///
    /// # Errors
    /// [`Invalid`](super::ErrorKind::Invalid) if this is not an export,
    /// [`Unsupported`](super::ErrorKind::Unsupported) if a newer version has written it,
    /// [`NotFound`](super::ErrorKind::NotFound) if there is no such definition here.
    fn import(&self, export: Value) -> Answer<'_, ()>;

    /// Whether there is such an instance.
    ///
    /// # Errors
    /// [`Unavailable`](super::ErrorKind::Unavailable) if nobody can say.
    fn exists(&self) -> Answer<'_, bool>;
}
