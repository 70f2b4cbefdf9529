//! What a request has, or may have, at the server before it is granted.

use super::{Inner, client::Lease};
use crate::standin::{
    protocol::{Reply, Request as Ask},
    wire::{Failure, unexpected},
};
use lockwork::{
    Error, ErrorKind, Instant, Request, Result,
    backend::{
        Attempt,
        lease::{Leased, Terms},
    },
};
use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

type Tried = Attempt<Leased<super::LeaseClient>>;

/// A request's place in line. Every attempt has a share in it; when the last is gone and nothing
/// was granted, the server is told.
#[derive(Debug)]
pub(super) struct Place {
    backend: Arc<Inner>,
    request: Request,
    lease: Lease,
    /// A waiter stands in line for this.
    queued: AtomicBool,
    /// An answer was lost: the lock may have been granted, or may yet be.
    in_doubt: AtomicBool,
}

impl Place {
    pub(super) fn new(backend: Arc<Inner>, request: Request) -> Self {
        let lease = Lease {
            id: request.id(),
            owner: request.owner,
            time: request.lease.unwrap_or(backend.lease),
        };
        Self {
            backend,
            request,
            lease,
            queued: AtomicBool::new(false),
            in_doubt: AtomicBool::new(false),
        }
    }

    /// One try, asked a second time if its answer is lost.
    pub(super) async fn attempt(self: Arc<Self>, wait: bool) -> Result<Tried> {
        match self.ask(wait).await {
            Err(Failure::ReplyLost(_)) => Ok(self.ask(wait).await?),
            answered => Ok(answered?),
        }
    }

    async fn ask(&self, wait: bool) -> Result<Tried, Failure> {
        let asked_at = Instant::now();
        let ask = Ask::Try {
            id: self.lease.id.clone(),
            owner: self.lease.owner,
            mode: self.request.mode,
            time: self.lease.time,
            wait,
        };
        let answer = self.backend.client.wire.send(ask).await;
        match answer {
            Ok(Reply::Granted(token)) => {
                self.queued.store(false, Ordering::Relaxed);
                self.in_doubt.store(false, Ordering::Relaxed);
                Ok(Attempt::Granted(self.backend.keeper.keep(Terms {
                    lease: self.lease.clone(),
                    token,
                    asked_at,
                    time: self.lease.time,
                    renew: self.request.renew,
                })))
            }
            Ok(Reply::Busy(again_in)) => {
                self.queued.fetch_or(wait, Ordering::Relaxed);
                Ok(Attempt::Busy { again_in })
            }
            Ok(Reply::Refused) => Err(Failure::NotSent(reused())),
            Ok(other) => Err(Failure::NotSent(unexpected(&other))),
            Err(failure) => {
                if matches!(failure, Failure::ReplyLost(_)) {
                    self.in_doubt.store(true, Ordering::Relaxed);
                }
                Err(failure)
            }
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if *self.in_doubt.get_mut() {
            self.backend.client.settle(self.lease.release());
        } else if *self.queued.get_mut() {
            self.backend.client.settle(self.lease.leave());
        }
    }
}

fn reused() -> Error {
    Error::new(
        ErrorKind::Unexpected,
        "this owner id has been released: a new request needs a new one",
    )
}
