//! Asking again when the server could not be reached, but not for ever.

use super::Layer;
use crate::lock::{
    Backend, Deadline, Error, Held, Holders, Info, LockId, Name, Report, Request, Result,
};
use backon::{BackoffBuilder, ExponentialBuilder};
use std::{future::Future, time::Duration};

/// Asks again after an error that could be over in a moment
/// ([`Error::is_transient`](crate::lock::Error::is_transient)).
///
/// Three times unless told otherwise: after 500 ms, 1 s and 2 s, each with up to as much again on
/// top, so that many programs do not come back at once. Each retry is a `tracing` event at `warn`
/// with the lock, its number, the pause and the error.
///
/// * A lock that is **busy** is no error and is never retried.
/// * No pause goes **past the deadline** of the request; then the error comes back at once. So what
///   only tries ([`try_lock`](crate::lock::Mutex::try_lock)) is not retried.
/// * Every attempt carries the **same owner id**, so a server that granted the first one and was not
///   heard says so again.
/// * Each attempt stands in the process's line anew.
///
/// Retried are acquiring, one or several, [`holders`](Backend::holders), [`doctor`](Backend::doctor)
/// and [`collect`](Backend::collect). Not retried are
///
/// * [`break_lock`](Backend::break_lock): if the first one arrived and its answer did not, the second
///   would hit the next holder, whom nobody wanted to hit;
/// * upgrades: the guard stays what it was, in the hands of somebody who can ask again;
/// * releases: what cannot be told to the server now ends with its lease or its session, and
///   meanwhile nobody may wait here with a lock in hand.
///
/// ```
/// use lockwork_core::lock::{Locks, Memory, layers::Retry};
/// use std::time::Duration;
///
/// let patient = Retry::new().times(5).first_delay(Duration::from_millis(100)).factor(3.0);
/// let locks = Locks::new(Memory::new()).layer(patient);
/// # let _ = locks;
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Retry {
    pauses: ExponentialBuilder,
}

impl Default for Retry {
    fn default() -> Self {
        Self::new()
    }
}

impl Retry {
    /// Three retries: after 500 ms, 1 s and 2 s, and up to twice as long by chance.
    #[must_use]
    pub const fn new() -> Self {
        let pauses = ExponentialBuilder::new()
            .with_max_times(3)
            .with_min_delay(Duration::from_millis(500))
            .with_factor(2.0)
            .without_max_delay()
            .with_jitter();
        Self { pauses }
    }

    /// At most so many retries. None at all with zero.
    #[must_use]
    pub const fn times(mut self, times: usize) -> Self {
        self.pauses = self.pauses.with_max_times(times);
        self
    }

    /// The first pause, before chance adds up to as much again.
    #[must_use]
    pub const fn first_delay(mut self, delay: Duration) -> Self {
        self.pauses = self.pauses.with_min_delay(delay);
        self
    }

    /// By how much each pause is longer than the one before.
    #[must_use]
    pub const fn factor(mut self, factor: f32) -> Self {
        self.pauses = self.pauses.with_factor(factor);
        self
    }

    /// No pause grows longer than this, before chance adds up to as much again.
    #[must_use]
    pub const fn max_delay(mut self, delay: Duration) -> Self {
        self.pauses = self.pauses.with_max_delay(delay);
        self
    }

    /// Does `attempt` until it succeeds, fails for good, or there is no time or retry left.
    async fn run<T: Send, Try>(
        &self,
        what: &'static str,
        lock: Option<&Name>,
        deadline: Deadline,
        mut attempt: impl FnMut() -> Try + Send,
    ) -> Result<T>
    where
        Try: Future<Output = Result<T>> + Send,
    {
        for (number, pause) in (1_u64..).zip(self.pauses.build()) {
            match attempt().await {
                Err(error) if is_worth_a(pause, &error, deadline) => {
                    let lock = lock.map(tracing::field::display);
                    tracing::warn!(lock, retry = number, ?pause, %error, "{what} failed and is tried again");
                    tokio::time::sleep(pause).await;
                }
                done => return done,
            }
        }
        attempt().await
    }
}

fn is_worth_a(pause: Duration, error: &Error, deadline: Deadline) -> bool {
    error.is_transient() && deadline.remaining().is_none_or(|left| pause < left)
}

impl<B: Backend> Layer<B> for Retry {
    type Layered = Retried<B>;

    fn layer(self, inner: B) -> Retried<B> {
        Retried { retry: self, inner }
    }
}

/// A backend that is asked again, as [`Retry`] says.
#[derive(Debug)]
pub struct Retried<B> {
    retry: Retry,
    inner: B,
}

impl<B: Backend> Backend for Retried<B> {
    type Hold = B::Hold;

    fn info(&self) -> Info {
        self.inner.info()
    }

    async fn acquire(&self, request: Request) -> Result<Option<B::Hold>> {
        let attempt = || self.inner.acquire(request.clone());
        let name = Some(&request.name);
        self.retry
            .run("acquiring", name, request.deadline, attempt)
            .await
    }

    async fn acquire_all(&self, requests: Vec<Request>) -> Result<Option<Vec<B::Hold>>> {
        let attempt = || self.inner.acquire_all(requests.clone());
        let deadline = earliest(&requests);
        self.retry
            .run("acquiring several", None, deadline, attempt)
            .await
    }

    async fn holders(&self, id: &LockId) -> Result<Holders> {
        let attempt = || self.inner.holders(id);
        self.retry
            .run("looking", Some(&id.name), Deadline::Never, attempt)
            .await
    }

    async fn held(&self, beginning: &str) -> Result<Vec<Held>> {
        let attempt = || self.inner.held(beginning);
        self.retry
            .run("listing", None, Deadline::Never, attempt)
            .await
    }

    fn break_lock(&self, id: &LockId) -> impl Future<Output = Result<usize>> + Send {
        self.inner.break_lock(id)
    }

    async fn doctor(&self) -> Result<Report> {
        let attempt = || self.inner.doctor();
        self.retry
            .run("the doctor", None, Deadline::Never, attempt)
            .await
    }

    async fn collect(&self, idle: Duration) -> Result<usize> {
        let attempt = || self.inner.collect(idle);
        self.retry
            .run("collecting", None, Deadline::Never, attempt)
            .await
    }
}

fn earliest(requests: &[Request]) -> Deadline {
    let deadlines = requests.iter().map(|request| request.deadline);
    deadlines
        .min_by_key(|deadline| deadline.remaining().unwrap_or(Duration::MAX))
        .unwrap_or(Deadline::Never)
}
