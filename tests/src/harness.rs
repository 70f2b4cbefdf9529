//! How the suite reaches a backend.

use lockwork::{Locks, Result};
use std::{future::Future, pin::Pin, sync::Arc, time::Duration};

/// A future in a box.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// One place where locks live, for one case. What other cases do must not be seen here.
pub trait Harness: Send + Sync + 'static {
    /// A new client with a tenure: as another process would be, or a real one.
    fn client(&self, tenure: Duration) -> BoxFuture<'_, Result<Locks>>;

    /// How another process reaches the same locks; `None` if none can.
    fn url(&self) -> Option<String>;

    /// Makes the server forget what every client of this harness holds; `None` if it cannot.
    fn sever(&self) -> Option<BoxFuture<'_, ()>>;

    /// From now on, nobody is told when to ask again.
    fn mute(&self);

    /// What the server remembers; `None` if it cannot say.
    fn residue(&self) -> Option<Residue>;

    /// Whether the backend promises this.
    fn promises(&self, promise: Promise) -> bool;

    /// After this long, the locks of a process that was killed are free.
    fn takeover(&self) -> Duration;

    /// After this long, a holder that was [severed](Harness::sever) has noticed.
    fn notice(&self) -> Duration;

    /// How many acquires are dropped half way to see what they leave. Fewer where each takes long.
    fn drops(&self) -> u32 {
        20_000
    }

    /// The lease that cases ask for which see one end: short enough for that, long enough for a busy
    /// machine to renew it.
    fn lease(&self) -> Duration {
        Duration::from_secs(1)
    }

    /// How long a muted waiter may take to notice that a lock is free.
    fn patience(&self) -> Duration;
}

/// What not every backend promises.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Promise {
    /// A writer that waits in one process keeps later readers of another out.
    WriterPreference,
    /// Clients are served in the order in which they began to wait.
    Order,
    /// The server tells who holds a lock, and one can be broken.
    KnowsHolders,
    /// The server tells which locks are held.
    ListsHeld,
    /// The server knows who waits.
    KnowsWaiters,
    /// The server knows the tokens of those who hold a lock.
    KnowsTokens,
    /// A mutex, a read/write lock and a semaphore of one name are three locks.
    NameSpaces,
    /// Names of every length reach the server: nothing is put in front of them.
    WholeNames,
}

/// What a server remembers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Residue {
    /// Locks somebody holds.
    pub locks: usize,
    /// Requests that wait.
    pub waiters: usize,
}

/// What a site gives for each case.
pub type Started = std::result::Result<Arc<dyn Harness>, String>;

/// A backend and how to get a harness for it.
#[derive(Clone, Copy, Debug)]
pub struct Site {
    /// The first part of its trials' names.
    pub name: &'static str,
    /// Starts a harness, or says why not. Called once per case, and once before all.
    pub start: fn() -> Started,
}

impl Site {
    /// A backend called `name`.
    #[must_use]
    pub const fn new(name: &'static str, start: fn() -> Started) -> Self {
        Self { name, start }
    }
}
