//! Several programs on one server, each with names of its own.

use super::Layer;
use crate::lock::{
    Backend, Error, ErrorKind, Held, Holders, Info, LockId, Name, Report, Request, Result,
};
use std::{future::Future, time::Duration};

/// Puts a prefix in front of every name.
///
/// Guards and errors of [`Locks`](crate::lock::Locks) show the name that was asked for, without the
/// prefix, and so does the audit log of a broken one; the server, and whoever looks at it, sees both.
///
/// ```
/// use lockwork_core::lock::{Locks, Memory, layers::Prefix};
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> lockwork_core::lock::Result<()> {
/// let all = Locks::new(Memory::new());
/// let billing = all.layer(Prefix::new("billing/")?);
/// let guard = billing.mutex("nightly").lock().await?;
/// assert_eq!(guard.name().as_str(), "nightly");
/// assert!(all.mutex("billing/nightly").try_lock().await?.is_none());
/// assert!(all.mutex("nightly").try_lock().await?.is_some());
/// # Ok(()) }
/// ```
#[derive(Clone, Debug)]
pub struct Prefix(Name);

impl Prefix {
    /// Puts `prefix` in front of every name, with nothing between: end it as you like to see it.
    ///
    /// # Errors
    /// [`ErrorKind::Invalid`] if it could not be a name itself: see [`Name`].
    pub fn new(prefix: &str) -> Result<Self> {
        Name::new(prefix).map(Self)
    }

    fn in_front_of(&self, name: &Name) -> Result<Name> {
        let bytes = self.0.as_str().len() + name.as_str().len();
        if bytes > Name::MAX_BYTES {
            let message = "with its prefix this lock name is longer than 1024 bytes: shorten one";
            return Err(Error::new(ErrorKind::Invalid, message)
                .with("prefix", &self.0)
                .with("bytes", bytes));
        }
        Name::new(&format!("{}{name}", self.0))
    }

    fn request(&self, request: Request) -> Result<Request> {
        let name = self.in_front_of(&request.name)?;
        Ok(Request { name, ..request })
    }

    fn id(&self, id: &LockId) -> Result<LockId> {
        Ok(LockId::new(id.space, self.in_front_of(&id.name)?))
    }
}

impl<B: Backend> Layer<B> for Prefix {
    type Layered = Prefixed<B>;

    fn layer(self, inner: B) -> Prefixed<B> {
        Prefixed {
            prefix: self,
            inner,
        }
    }
}

/// A backend that sees every name with a [`Prefix`].
#[derive(Debug)]
pub struct Prefixed<B> {
    prefix: Prefix,
    inner: B,
}

impl<B: Backend> Backend for Prefixed<B> {
    type Hold = B::Hold;

    fn info(&self) -> Info {
        self.inner.info()
    }

    async fn acquire(&self, request: Request) -> Result<Option<B::Hold>> {
        self.inner.acquire(self.prefix.request(request)?).await
    }

    async fn acquire_all(&self, requests: Vec<Request>) -> Result<Option<Vec<B::Hold>>> {
        // They stay in the order of their ids: all begin with the same bytes.
        let requests = requests
            .into_iter()
            .map(|request| self.prefix.request(request));
        let requests = requests.collect::<Result<_>>()?;
        self.inner.acquire_all(requests).await
    }

    async fn holders(&self, id: &LockId) -> Result<Holders> {
        self.inner.holders(&self.prefix.id(id)?).await
    }

    async fn held(&self, beginning: &str) -> Result<Vec<Held>> {
        let prefix = self.prefix.0.as_str();
        let held = self.inner.held(&format!("{prefix}{beginning}")).await?;
        let held = held.into_iter().filter_map(|held| held.without(prefix));
        Ok(held.collect())
    }

    async fn break_lock(&self, id: &LockId) -> Result<usize> {
        self.inner.break_lock(&self.prefix.id(id)?).await
    }

    fn doctor(&self) -> impl Future<Output = Result<Report>> + Send {
        self.inner.doctor()
    }

    fn collect(&self, idle: Duration) -> impl Future<Output = Result<usize>> + Send {
        self.inner.collect(idle)
    }
}
