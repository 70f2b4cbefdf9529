//! What a case works with.

use crate::{Harness, Promise, Residue, Taker, View, generous};
use lockwork::Locks;
use std::{
    path::PathBuf,
    sync::Arc,
    time::{Duration, Instant},
};

/// One case's backend, view and helpers.
#[derive(Clone)]
pub struct Context {
    /// The backend.
    pub harness: Arc<dyn Harness>,
    /// As what the mutex cases take their lock.
    pub view: View,
    pub(crate) taker: Arc<PathBuf>,
    pub(crate) run: Arc<str>,
}

impl std::fmt::Debug for Context {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Context({} as {:?})", self.run, self.view)
    }
}

impl Context {
    /// A client like any other process's.
    pub async fn client(&self) -> Locks {
        self.client_with_tenure(lockwork::backend::queue::DEFAULT_TENURE)
            .await
    }

    /// A client that passes locks among its tasks for `tenure`.
    pub async fn client_with_tenure(&self, tenure: Duration) -> Locks {
        self.harness.client(tenure).await.expect("a client")
    }

    /// A name nobody else uses.
    #[must_use]
    pub fn name(&self, name: &str) -> String {
        format!("{}/{name}", self.run)
    }

    /// Another process that takes locks of this backend; `None` if no other can reach them.
    pub async fn process(&self) -> Option<Taker> {
        let url = self.harness.url()?;
        Some(Taker::start(&self.taker, &url).await)
    }

    /// Waits until the server remembers nothing.
    ///
    /// # Panics
    /// If that takes longer than `limit` and what this machine needs: as one that was late, if it is so before half of a
    /// lease is over.
    pub async fn nothing_left(&self, limit: Duration) {
        let (start, allowed) = (Instant::now(), generous(limit));
        let Some(residue) = self.left_at(start + allowed).await else {
            return;
        };
        // What is still there after half a lease would be given back only by the lease's end, so it is wrong. What goes
        // before that was slow.
        let half = (self.harness.lease() / 2).min(LONGEST);
        let was_slow = half > limit && self.left_at(start + half).await.is_none();
        assert!(was_slow, "left after {limit:?}: {residue:?}");
        let after = start.elapsed();
        panic!("what was left is gone after {after:?}, allowed {allowed:?}: {residue:?}");
    }

    /// What the server still remembers at `end`; `None` as soon as it remembers nothing, or if it cannot say.
    async fn left_at(&self, end: Instant) -> Option<Residue> {
        loop {
            let residue = self.harness.residue()?;
            if residue == Residue::default() {
                return None;
            }
            if Instant::now() >= end {
                return Some(residue);
            }
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    }

    /// Waits until so many clients wait for the mutex called `name`, as far as the server can tell
    /// `asker`.
    pub(crate) async fn until_waiting(&self, asker: &Locks, name: &str, count: usize) {
        if !self.harness.promises(Promise::KnowsWaiters) {
            return a_while().await;
        }
        within(SOON, "they wait", async {
            while asker.mutex(name).holders().await.unwrap().waiting.len() < count {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
        })
        .await;
    }
}

/// Waits for `event`, and fails if it takes longer than `limit` and what this machine needs.
///
/// # Panics
/// Then.
pub async fn within<T>(limit: Duration, what: &str, event: impl IntoFuture<Output = T>) -> T {
    let allowed = generous(limit);
    tokio::time::timeout(allowed, event.into_future())
        .await
        .unwrap_or_else(|_| panic!("{what}: not within {limit:?} (allowed {allowed:?})"))
}

/// Waits until `condition` holds, by looking; for what has no event to await.
///
/// # Panics
/// If it takes longer than `limit` and what this machine needs.
pub async fn until(limit: Duration, what: &str, condition: impl Fn() -> bool) {
    within(limit, what, async {
        while !condition() {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    })
    .await;
}

/// A while in which something would have happened if it could.
pub(crate) async fn a_while() {
    tokio::time::sleep(Duration::from_millis(30)).await;
}

/// For no longer is it looked whether what was left goes.
const LONGEST: Duration = Duration::from_secs(10);

/// What most things must happen within.
pub(crate) const SOON: Duration = Duration::from_secs(5);
