//! Leases: grants that run out unless renewed. Redis and Azure Blob are made of these.
//!
//! A backend says how its server renews and ends leases ([`LeaseServer`]); the [`LeaseKeeper`]
//! does the rest:
//!
//! * a lease is good from **before it was asked for** until its time is up, less a margin for
//!   clocks that run at different speeds; never from the reply;
//! * it is renewed at a third of its time, on the [keeper thread](super::keeper), many leases in
//!   one call;
//! * a renewal that fails without a clear answer is tried again until the lease has run out: not
//!   knowing is not losing;
//! * [`Lost`] fires when the server clearly says no, or by our own timer when the lease has run
//!   out, whatever call is hanging;
//! * a renewal that succeeds after that is too late. What was lost is never healed silently.

mod book;
mod hold;
mod place;
mod rounds;

pub use hold::Leased;
pub use place::{LeaseTaker, Take, Verdict};

use self::{book::Book, hold::Cell};
use super::{Listener, Pace, Upgrade};
use crate::lock::{Instant, Lost, Result, Token};
use std::{
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};
use tokio::sync::Notify;

/// What a server can do with leases.
pub trait LeaseServer: fmt::Debug + Send + Sync + 'static {
    /// What names one lease to the server: the lock and the owner id.
    type Lease: fmt::Debug + Send + Sync + 'static;

    /// Whether what is asked of it opens neither timers nor sockets: see [`Hold::QUIET`](super::Hold::QUIET).
    const QUIET: bool = false;

    /// Renews all of these in one call, for the time each was granted for. One answer for each, in
    /// the same order.
    ///
    /// # Errors
    /// Says that nothing is known of any of them.
    fn renew(
        &self,
        leases: Vec<Arc<Self::Lease>>,
    ) -> impl Future<Output = Result<Vec<Renewal>>> + Send;

    /// Ends the lease if its owner still has it; otherwise does nothing, successfully. May be dropped half
    /// way, and is asked for again then.
    fn surrender(&self, lease: Arc<Self::Lease>) -> impl Future<Output = Result<()>> + Send;

    /// Makes an upgradeable reader the writer if no other reader is in.
    ///
    /// # Errors
    /// Of a lease that is gone too: [`Upgrade::Busy`] would mean to ask again.
    fn upgrade(&self, lease: Arc<Self::Lease>) -> impl Future<Output = Result<Upgrade>> + Send;

    /// Makes a writer that was upgraded an upgradeable reader again, and ends a wish to be one that
    /// the server may have noted; where there is neither, does nothing, successfully.
    fn downgrade(&self, lease: Arc<Self::Lease>) -> impl Future<Output = Result<()>> + Send;

    /// How often to ask for `lease` again, or for its upgrade, and who may give hints about it.
    fn pace(&self, lease: &Self::Lease) -> (Pace, Option<Listener>);
}

/// What became of one renewal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Renewal {
    /// Good for its whole time again, counted from before the call.
    Renewed,
    /// It is not this owner's any more.
    Gone,
    /// The server could not say.
    Unknown,
}

/// What the server granted.
#[derive(Debug)]
pub struct Terms<L> {
    /// What names it to the server.
    pub lease: L,
    /// Its token.
    pub token: Option<Token>,
    /// When the request was sent, or earlier. Never when the reply came.
    pub asked_at: Instant,
    /// For how long it was granted.
    pub time: Duration,
    /// Whether to renew it.
    pub renew: bool,
}

/// Keeps leases. One per connection to a server; leases it keeps may outlive it.
#[derive(Debug)]
pub struct LeaseKeeper<S: LeaseServer>(Arc<Shared<S>>);

#[derive(Debug)]
struct Shared<S: LeaseServer> {
    server: Arc<S>,
    book: Mutex<Book<S>>,
    /// Something is due earlier than the keeper thinks.
    wake: Notify,
    batch: usize,
}

impl<S: LeaseServer> LeaseKeeper<S> {
    /// Keeps leases of `server`, renewing at most `batch` of them in one call.
    pub fn new(server: Arc<S>, batch: usize) -> Self {
        let book = Mutex::new(Book::default());
        let shared = Arc::new(Shared {
            server,
            book,
            wake: Notify::new(),
            batch: batch.max(1),
        });
        super::keeper::spawn(rounds::run(shared.clone()));
        Self(shared)
    }

    /// Takes charge of a lease the server granted.
    pub fn keep(&self, terms: Terms<impl Into<Arc<S::Lease>>>) -> Leased<S> {
        let (signal, lost) = Lost::signal();
        let valid_until = good_until(terms.asked_at, terms.time);
        let cell = Arc::new(Cell::new(
            terms.lease.into(),
            terms.time,
            valid_until,
            signal,
        ));
        let first_renewal = terms.renew.then(|| terms.asked_at + terms.time / 3);
        let (number, early) = self.0.book().enter(cell.clone(), first_renewal);
        if early {
            self.0.wake.notify_one();
        }
        Leased::new(self.0.clone(), number, cell, terms.token, lost)
    }

    /// Renews all of them now: what leads to the server is new, and so may be the server.
    pub fn renew_all(&self) {
        self.0.book().renew_all(Instant::now());
        self.0.wake.notify_one();
    }

    /// How many leases are kept, those on their way back among them. For tests and diagnosis.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.book().len()
    }

    /// Whether none is kept.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl<S: LeaseServer> Drop for LeaseKeeper<S> {
    fn drop(&mut self) {
        self.0.book().close();
        self.0.wake.notify_one();
    }
}

impl<S: LeaseServer> Shared<S> {
    fn book(&self) -> MutexGuard<'_, Book<S>> {
        // Nothing that can panic runs under this lock.
        self.book.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Until when a grant is good by our clock, if the server counts `time` from when it got a request
/// that was sent no earlier than `asked_at`: a hundredth less for clocks of different speed, and
/// two milliseconds less for rounding.
pub(super) fn good_until(asked_at: Instant, time: Duration) -> Instant {
    asked_at + (time - time / 100).saturating_sub(Duration::from_millis(2))
}
