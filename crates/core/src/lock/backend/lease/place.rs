//! Asking for a lease until it is granted, and what a request has at the server until then.

use super::{LeaseKeeper, LeaseServer, Leased, Terms, good_until};
use crate::lock::{
    Error, ErrorKind, Instant, Request, Result, Token,
    backend::{Attempt, Owned, line::Failure, wait_for_grant},
};
use std::{
    fmt,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

/// A server whose leases are asked for again and again until one is granted.
pub trait LeaseTaker: LeaseServer {
    /// The lease that `request` asks for, in one try. Another try may be for another lease.
    fn lease(&self, request: &Request) -> Self::Lease;

    /// For how long it is to be granted.
    fn time(&self, lease: &Self::Lease) -> Duration;

    /// One try. If it is refused and `waits`, the server notes that somebody does.
    fn take(
        &self,
        lease: &Arc<Self::Lease>,
        waits: bool,
    ) -> impl Future<Output = Result<Take, Failure>> + Send;

    /// Notes that a question for this lease may still be on its way: who surrenders or leaves it has to
    /// see to it that what comes late is refused.
    fn doubt(&self, lease: &Self::Lease);

    /// Tells the server that nobody waits for this any more; of one [in doubt](LeaseTaker::doubt),
    /// that what comes late is refused. Returns at once.
    fn leave(&self, lease: &Arc<Self::Lease>);
}

/// What became of one try.
#[derive(Debug)]
pub struct Take {
    /// What the server said.
    pub verdict: Verdict,
    /// It was asked before, and what was said to that is not known.
    pub asked_twice: bool,
}

/// What the server said to one try.
#[derive(Clone, Copy, Debug)]
pub enum Verdict {
    /// It is the owner's, or was already.
    Granted(Option<Token>),
    /// Somebody is in the way, and when to ask again if no hint comes.
    Busy(Option<Duration>),
    /// This owner has given it back before.
    Buried,
}

impl<S: LeaseTaker> LeaseKeeper<S> {
    /// Asks for a lease until it is granted or the deadline has passed, and keeps it.
    ///
    /// # Errors
    /// What the server says, or that it could not be asked. Nothing is given back then: whoever tries
    /// again does so as the same owner and finds what it may have been granted; otherwise that ends
    /// with its time.
    ///
    /// # Cancel safety
    /// Dropped at any moment, nothing stays held and nobody stays in line at the server.
    // Not an `async fn`: that would carry the request twice (rust-lang/rust#62958).
    pub fn take(
        self: &Arc<Self>,
        request: Request,
    ) -> impl Future<Output = Result<Option<Leased<S>>>> + Send + use<S> {
        let place = Arc::new(Place {
            keeper: self.clone(),
            lease: Arc::new(self.0.server.lease(&request)),
            request,
            tried: AtomicBool::new(false),
            noted: AtomicBool::new(false),
            in_doubt: AtomicBool::new(false),
        });
        async move {
            let Request {
                deadline, releases, ..
            } = &place.request;
            let (pace, listener) = place.keeper.0.server.pace(&place.lease);
            let attempt = || place.clone().attempt(!deadline.has_passed());
            // One that is given up goes on by itself, which is no harm: nobody tries again as this owner after its
            // deadline.
            let granted = wait_for_grant(*deadline, pace, listener, releases, attempt).await?;
            Ok(granted.map(Owned::into_inner))
        }
    }
}

/// A request's place at the server. Every attempt has a share in it; when the last is gone and
/// nothing was granted, the server is told that nobody waits here any more.
struct Place<S: LeaseTaker> {
    keeper: Arc<LeaseKeeper<S>>,
    request: Request,
    /// That of the first try. A server may want another one for each.
    lease: Arc<S::Lease>,
    tried: AtomicBool,
    /// The server may have noted that we wait.
    noted: AtomicBool,
    /// What was said to an earlier try is not known, and it may still be on its way. Not so after an
    /// error: whoever tries again does so as the same owner, who must not be refused then.
    in_doubt: AtomicBool,
}

impl<S: LeaseTaker> Place<S> {
    async fn attempt(self: Arc<Self>, waits: bool) -> Result<Attempt<Leased<S>>> {
        let server = &self.keeper.0.server;
        let lease = match self.tried.swap(true, Ordering::Relaxed) {
            false => self.lease.clone(),
            true => Arc::new(server.lease(&self.request)),
        };
        let (mut verdict, mut asked_at) = self.ask(&lease, waits).await?;
        let is_over = || good_until(asked_at, server.time(&lease)).has_passed();
        if matches!(verdict, Verdict::Granted(_)) && is_over() {
            // The answer took so long that to us the lease is over, while the server has only begun
            // it. Nobody has seen it yet, so there is nothing to lose: the same owner asks anew.
            (verdict, asked_at) = self.ask(&lease, waits).await?;
        }
        match verdict {
            Verdict::Granted(token) => Ok(Attempt::Granted(self.granted(lease, token, asked_at))),
            Verdict::Busy(again_in) => {
                self.noted.store(waits, Ordering::Relaxed);
                Ok(Attempt::Busy { again_in })
            }
            Verdict::Buried => {
                let message = "this owner id has been released: a new request needs a new one";
                Err(Error::new(ErrorKind::Unexpected, message))
            }
        }
    }

    /// What the server says, and when it was asked.
    async fn ask(&self, lease: &Arc<S::Lease>, waits: bool) -> Result<(Verdict, Instant)> {
        let asked_at = Instant::now();
        self.noted.fetch_or(waits, Ordering::Relaxed);
        let said = match self.keeper.0.server.take(lease, waits).await {
            Ok(said) => said,
            Err(failure) => {
                self.in_doubt.store(false, Ordering::Relaxed);
                return Err(failure.into());
            }
        };
        self.in_doubt.fetch_or(said.asked_twice, Ordering::Relaxed);
        Ok((said.verdict, asked_at))
    }

    fn granted(&self, lease: Arc<S::Lease>, token: Option<Token>, asked_at: Instant) -> Leased<S> {
        self.noted.store(false, Ordering::Relaxed);
        let server = &self.keeper.0.server;
        // From here on it is for the surrender to see to.
        if self.in_doubt.swap(false, Ordering::Relaxed) {
            server.doubt(&lease);
        }
        let time = server.time(&lease);
        self.keeper.keep(Terms {
            lease,
            token,
            asked_at,
            time,
            renew: self.request.renew,
        })
    }
}

impl<S: LeaseTaker> Drop for Place<S> {
    fn drop(&mut self) {
        let in_doubt = *self.in_doubt.get_mut();
        if *self.noted.get_mut() || in_doubt {
            let server = &self.keeper.0.server;
            if in_doubt {
                server.doubt(&self.lease);
            }
            server.leave(&self.lease);
        }
    }
}

impl<S: LeaseTaker> fmt::Debug for Place<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Place").finish_non_exhaustive()
    }
}
