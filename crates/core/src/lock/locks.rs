//! Where locks come from.

use super::{
    All, AnyBackend, Error, ErrorKind, Guard, Held, Holders, Info, LockId, LockOptions, Mode,
    Mutex, Name, OwnerId, Report, Request, Result, RwLock, Semaphore, Space,
    backend::{Backend, Releases, queue},
    door::Door,
    layers::Layer,
    max_hold::Grip,
};
use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};
use tokio::sync::Notify;

/// Where locks come from: a backend with the in-process queue in front.
///
/// Cheap to clone, no type parameters, usable from several runtimes one after another. All
/// clones are one: they share their queue, and closing one closes all. Waiting needs a tokio
/// runtime with its timer enabled (`enable_all`, or `#[tokio::main]`).
///
/// ```
/// use lockwork_core::lock::{Locks, Memory};
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> lockwork_core::lock::Result<()> {
/// let locks = Locks::new(Memory::new());
/// let guard = locks.mutex("nightly-report").lock().await?;
/// assert!(locks.mutex("nightly-report").try_lock().await?.is_none());
/// drop(guard);
/// locks.close().await; // every release has arrived
/// # Ok(()) }
/// ```
#[derive(Clone, Debug)]
pub struct Locks(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    backend: AnyBackend,
    info: Info,
    releases: Releases,
    closed: Arc<Closed>,
}

impl Locks {
    /// Locks of `backend`.
    pub fn new(backend: impl Backend) -> Self {
        Self::with_tenure(backend, queue::DEFAULT_TENURE)
    }

    /// Locks of `backend`, passed among the tasks of this process for at most `tenure` before the
    /// server hears of them again. Default: 40 ms.
    ///
    /// Longer means fewer round trips and longer waits for other processes; zero passes nothing
    /// on, so that each acquisition is a grant of the server.
    pub fn with_tenure(backend: impl Backend, tenure: Duration) -> Self {
        let releases = Releases::new();
        let queued = queue::Queue::new(backend, tenure, releases.clone());
        let info = queued.info();
        let backend = AnyBackend::counted(queued, releases.clone());
        Self(Arc::new(Shared {
            backend,
            info,
            releases,
            closed: Arc::default(),
        }))
    }

    /// The same locks with a layer around them, outside the queue: see [`layers`](super::layers).
    ///
    /// Both exclude each other and are closed together; [`Locks::close`] of either waits for the
    /// releases of both. What the locks are and can do, [`Locks::info`], no layer changes.
    ///
    /// ```
    /// use lockwork_core::lock::{Locks, Memory, layers::{Prefix, Retry}};
    ///
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> lockwork_core::lock::Result<()> {
    /// let locks = Locks::new(Memory::new());
    /// let billing = locks.layer(Retry::new()).layer(Prefix::new("billing/")?);
    /// let _guard = billing.mutex("nightly").lock().await?;
    /// assert!(locks.mutex("billing/nightly").try_lock().await?.is_none());
    /// # Ok(()) }
    /// ```
    #[must_use]
    pub fn layer(&self, layer: impl Layer<AnyBackend>) -> Self {
        let layered = layer.layer(self.0.backend.clone());
        Self(Arc::new(Shared {
            backend: AnyBackend::counted(layered, self.0.releases.clone()),
            info: self.0.info,
            releases: self.0.releases.clone(),
            closed: self.0.closed.clone(),
        }))
    }

    /// What the backend is and can do.
    #[must_use]
    pub fn info(&self) -> Info {
        self.0.info
    }

    /// The mutex called `name`. A name that cannot be one is told when the lock is asked for.
    pub fn mutex<N>(&self, name: N) -> Mutex
    where
        N: TryInto<Name>,
        N::Error: Into<Error>,
    {
        Mutex(Door::new(self.clone(), name))
    }

    /// The read/write lock called `name`.
    pub fn rw_lock<N>(&self, name: N) -> RwLock
    where
        N: TryInto<Name>,
        N::Error: Into<Error>,
    {
        RwLock(Door::new(self.clone(), name))
    }

    /// The semaphore called `name` with so many permits. Zero is told when one is asked for.
    pub fn semaphore<N>(&self, name: N, permits: u32) -> Semaphore
    where
        N: TryInto<Name>,
        N::Error: Into<Error>,
    {
        Semaphore {
            door: Door::new(self.clone(), name),
            permits,
        }
    }

    /// The mutexes called so, to be taken together. See [`All`].
    pub fn all<N>(&self, names: impl IntoIterator<Item = N>) -> All
    where
        N: TryInto<Name>,
        N::Error: Into<Error>,
    {
        All::new(self.clone(), names)
    }

    /// Looks at the deployment; the report says what would break a promise and what to do.
    ///
    /// # Errors
    /// What the server has to say.
    ///
    /// # Cancel safety
    /// Only looks; may be dropped at any time.
    pub async fn doctor(&self) -> Result<Report> {
        self.while_open(self.0.backend.doctor()).await
    }

    /// Which locks are held whose names begin with `beginning`, by whom and who waits: all of them with `""`.
    ///
    /// Of some backends no more is known than a beginning of the name: see [`Held::is_whole`]. What is held, and
    /// by whom, changes while they are looked at one after the other.
    ///
    /// # Errors
    /// [`ErrorKind::Unsupported`] where the server keeps nothing of which names could be made; otherwise what it
    /// has to say.
    ///
    /// # Cancel safety
    /// Only looks; may be dropped at any time.
    pub async fn held(&self, beginning: &str) -> Result<Vec<Held>> {
        let mut held = self.while_open(self.0.backend.held(beginning)).await?;
        held.sort_by(|one, other| (&one.name, one.space).cmp(&(&other.name, other.space)));
        Ok(held)
    }

    /// Removes what names left behind that nobody has used for `idle`, and says of how many.
    ///
    /// Backends do so by themselves now and then; this is for an operator who wants it now. What
    /// anybody holds or waits for stays, and tokens rise across it.
    ///
    /// # Errors
    /// What the server has to say.
    ///
    /// # Cancel safety
    /// Dropped half way, some is removed and the rest is not.
    pub async fn collect(&self, idle: Duration) -> Result<usize> {
        self.while_open(self.0.backend.collect(idle)).await
    }

    /// Refuses new requests, ends waiting ones with [`ErrorKind::Closed`], and waits until every
    /// release under way has arrived. Guards that are still held stay held.
    ///
    /// # Cancel safety
    /// Dropping this stops the waiting; the locks stay closed.
    pub async fn close(&self) {
        self.0.closed.close();
        self.0.releases.settled().await;
    }

    /// Waits until every release under way has arrived, and every try that was given up has been taken back, without
    /// closing anything: before a process ends that others shall not have to wait for.
    ///
    /// Tries of others who still wait are waited for too, so this wants a limit.
    ///
    /// # Cancel safety
    /// Dropping this stops the waiting, nothing else.
    pub async fn settled(&self) {
        self.0.releases.settled().await;
    }

    pub(super) async fn acquire(
        &self,
        name: &Name,
        mode: Mode,
        options: LockOptions,
    ) -> Result<Option<Guard>> {
        let request = self.request(name, mode, options)?;
        let hold = self.while_open(self.0.backend.acquire(request)).await?;
        Ok(hold.map(|hold| Guard::new(Grip::new(hold, options.max_hold), name.clone(), mode)))
    }

    /// All of `names` at once or none, without waiting.
    pub(super) async fn try_all(
        &self,
        names: &[Name],
        options: LockOptions,
    ) -> Result<Option<Vec<Guard>>> {
        let mode = Mode::Exclusive;
        let requests = names.iter().map(|name| self.request(name, mode, options));
        let requests = requests.collect::<Result<Vec<_>>>()?;
        let holds = self
            .while_open(self.0.backend.acquire_all(requests))
            .await?;
        let guard = |(hold, name): (_, &Name)| {
            Guard::new(Grip::new(hold, options.max_hold), name.clone(), mode)
        };
        Ok(holds.map(|holds| holds.into_iter().zip(names).map(guard).collect()))
    }

    pub(super) async fn holders(&self, space: Space, name: &Name) -> Result<Holders> {
        let id = LockId::new(space, name.clone());
        self.while_open(self.0.backend.holders(&id)).await
    }

    pub(super) async fn break_lock(&self, space: Space, name: &Name, why: &str) -> Result<usize> {
        let id = LockId::new(space, name.clone());
        // Before as well: whoever asks may not stay for the answer.
        tracing::warn!(target: "lockwork::audit", lock = %id, why, "a lock is to be broken");
        let broken = self.while_open(self.0.backend.break_lock(&id)).await?;
        tracing::warn!(target: "lockwork::audit", lock = %id, why, broken, "a lock was broken");
        Ok(broken)
    }

    fn request(&self, name: &Name, mode: Mode, options: LockOptions) -> Result<Request> {
        if !self.0.info.capability.has(mode) {
            let message =
                "this backend has no such locks: see its Info::capability, or use another";
            return Err(Error::new(ErrorKind::Unsupported, message)
                .with("backend", self.0.info.scheme)
                .with("mode", mode.as_str()));
        }
        Ok(Request {
            name: name.clone(),
            mode,
            owner: OwnerId::random(),
            deadline: options.wait.deadline(),
            lease: options.lease,
            renew: options.renew,
            releases: self.0.releases.clone(),
        })
    }

    async fn while_open<T: Send>(&self, work: impl Future<Output = Result<T>> + Send) -> Result<T> {
        let closed = || Error::new(ErrorKind::Closed, "these locks were closed");
        if self.0.closed.is_closed() {
            return Err(closed());
        }
        // A lock that is always free must not keep a loop from ever yielding to its runtime.
        tokio::task::coop::consume_budget().await;
        tokio::select! {
            biased;
            done = work => done,
            () = self.0.closed.wait() => Err(closed()),
        }
    }
}

/// Whether these locks are closed. Looked at by every request, so without a lock of its own.
#[derive(Debug, Default)]
struct Closed {
    closed: AtomicBool,
    closing: Notify,
}

impl Closed {
    fn close(&self) {
        self.closed.store(true, Ordering::Release);
        self.closing.notify_waiters();
    }

    fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Acquire)
    }

    async fn wait(&self) {
        // Listens first and looks then: a closing in between is heard.
        let closing = self.closing.notified();
        if !self.is_closed() {
            closing.await;
        }
    }
}
