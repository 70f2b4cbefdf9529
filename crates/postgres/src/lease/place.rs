//! What a request has, or may have, at the server before it is granted.

use super::{
    Inner, LeaseTable, contradiction,
    key::Key,
    line::Failure,
    server::{Lease, PACE, Said, WAITER_LASTS},
    statement::Argument,
};
use crate::client;
use lockwork_core::lock::{
    Error, ErrorKind, Instant, Mode, Request, Result,
    backend::{
        Attempt,
        lease::{Leased, Terms},
    },
};
use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

type Tried = Attempt<Leased<LeaseTable>>;

/// A request's place at the server. Every attempt has a share in it; when the last is gone and
/// nothing was granted, the server is told that nobody waits here any more.
#[derive(Debug)]
pub(super) struct Place {
    backend: Arc<Inner>,
    request: Request,
    /// The server may have noted that we wait.
    noted: AtomicBool,
    /// What was said to an earlier try is not known, and it may still be on its way.
    in_doubt: AtomicBool,
}

impl Place {
    pub(super) const fn new(backend: Arc<Inner>, request: Request) -> Self {
        Self {
            backend,
            request,
            noted: AtomicBool::new(false),
            in_doubt: AtomicBool::new(false),
        }
    }

    /// One try. Where it fails, nothing is given back: whoever tries again does so as the same owner,
    /// and finds what it may have been granted; otherwise that ends with its lease.
    pub(super) async fn attempt(self: Arc<Self>, waits: bool) -> Result<Tried> {
        let lease = self.lease();
        let asked_at = Instant::now();
        self.noted.fetch_or(waits, Ordering::Relaxed);
        let said = match self.ask(&lease, waits).await {
            Ok(said) => said,
            Err(failure) => {
                let unknown = matches!(failure, Failure::Unknown(_));
                self.in_doubt.fetch_or(unknown, Ordering::Relaxed);
                return Err(failure.into());
            }
        };
        self.in_doubt.fetch_or(said.asked_twice, Ordering::Relaxed);
        match said.verdict {
            1 => self.granted(lease, &said, asked_at),
            2 => {
                self.noted.store(waits, Ordering::Relaxed);
                Ok(Attempt::Busy {
                    again_in: again_in(said.answer),
                })
            }
            3 => Err(reused()),
            _ => Err(contradiction()),
        }
    }

    async fn ask(&self, lease: &Lease, waits: bool) -> Result<Said, Failure> {
        let (mode, permits) = code(self.request.mode);
        let more = [
            Argument::Small(mode),
            Argument::Number(permits),
            Argument::Number(lease.millis()),
            Argument::Flag(waits),
            Argument::Number(WAITER_LASTS),
            Argument::Bytes(client::name().as_bytes()),
        ];
        let server = &self.backend.server;
        server.call("lease_take_v1", lease, &more).await
    }

    fn granted(&self, lease: Lease, said: &Said, asked_at: Instant) -> Result<Tried> {
        self.noted.store(false, Ordering::Relaxed);
        let token = said.token()?;
        let in_doubt = self.in_doubt.load(Ordering::Relaxed);
        lease.in_doubt.store(in_doubt, Ordering::Relaxed);
        let time = lease.time;
        Ok(Attempt::Granted(self.backend.keeper.keep(Terms {
            lease,
            token,
            asked_at,
            time,
            renew: self.request.renew,
        })))
    }

    fn lease(&self) -> Lease {
        let id = self.request.id();
        Lease {
            key: Key::of(&id),
            id,
            owner: self.request.owner,
            time: self.backend.time_of(&self.request),
            in_doubt: AtomicBool::new(false),
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if *self.noted.get_mut() {
            let lease = self.lease();
            self.backend.server.tell("lease_leave_v1", &lease);
            // Readers that were kept out by a writer may come in now.
            self.backend.server.hints.hint(&lease.id);
        }
    }
}

/// As the table has it.
pub(super) fn code(mode: Mode) -> (i16, i64) {
    match mode {
        Mode::Exclusive => (1, 0),
        Mode::Read => (2, 0),
        Mode::Upgradeable => (3, 0),
        Mode::Write => (4, 0),
        Mode::Permit { of } => (5, i64::from(of.get())),
        // One that is new to us excludes everybody and is granted to nobody.
        _ => (-1, 0),
    }
}

/// The rest of the lease that is in the way, if that is over before we would ask again anyhow. A
/// holder that lives renews it, or gives it back without our hearing of it.
fn again_in(millis: Option<i64>) -> Option<Duration> {
    let rest = Duration::from_millis(u64::try_from(millis?).unwrap_or_default());
    (rest < PACE.most).then_some(rest)
}

fn reused() -> Error {
    let message = "this owner id has been released: a new request needs a new one";
    Error::new(ErrorKind::Unexpected, message)
}
