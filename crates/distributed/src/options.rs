//! How nodes share work, where there is a choice.

use lockwork_core::lock::{LockOptions, Locks, Wait, layers::Retry};
use std::time::Duration;

/// How nodes share work.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct DistributedOptions {
    /// How long a lock, an errand or a job may outlive a node that died. Default: 6 s, so that others go on within ten.
    /// A lock server with limits takes the nearest it has: Azure, 15 s.
    pub lease: Duration,
    /// How long a request waits for an instance on which another node works, before it is
    /// [`Busy`](lockwork_core::workflow::ErrorKind::Busy). Never retried. Default: 10 min.
    pub patience: Duration,
    /// What happens when the lock server cannot be reached: three retries, after 500 ms, 1 s and 2 s and a little more by
    /// chance, of errors that could be over in a moment. Each is told at `warn`.
    pub retry: Retry,
    /// Into how many parts all errands are divided, each of which one node looks through at a time. The first node that
    /// starts on a store decides that for all. Default: 4; with 1, one node looks at a time.
    pub parts: u32,
    /// Whether locks that reach no other machine will do: for tests, or if all nodes run on this one. Default: no.
    pub allow_local_locks: bool,
    /// The same locks by another connection. With them, [start](lockwork_runtime::LocalRuntime::start) proves that the
    /// server keeps two apart; without, what it would ask is answered inside of this process.
    pub witness: Option<Locks>,
}

impl Default for DistributedOptions {
    fn default() -> Self {
        Self {
            lease: Duration::from_secs(6),
            patience: Duration::from_secs(600),
            retry: Retry::new(),
            parts: 4,
            allow_local_locks: false,
            witness: None,
        }
    }
}

impl DistributedOptions {
    /// Without waiting.
    pub(crate) const fn at_once(&self) -> LockOptions {
        LockOptions::new().wait(Wait::No).lease(self.lease)
    }

    /// Waiting for whoever works on an instance.
    pub(crate) const fn patiently(&self) -> LockOptions {
        let wait = Wait::For(self.patience);
        LockOptions::new().wait(wait).lease(self.lease)
    }
}
