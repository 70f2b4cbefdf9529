//! What the storage account can do with leases, as the engine asks for it.

use crate::{
    blobs::Blobs,
    cache::Cache,
    mutex, names,
    options::{LONGEST_LEASE, SHORTEST_LEASE, Tokens},
    permits, record,
    refusal::Said,
    sequence,
    turns::Turns,
};
use lockwork_core::lock::{
    Error, ErrorKind, LockId, Mode, OwnerId, Request, Result,
    backend::{
        Listener, Pace, Upgrade, keeper,
        lease::{LeaseServer, LeaseTaker, Renewal, Take, Verdict},
        line::Failure,
        wake::Wake,
    },
};
use std::{
    sync::{
        Arc, OnceLock,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};
use tokio::sync::Semaphore;

/// How often to ask again: nobody tells us. A blob bears some hundred requests a second.
const PACE: Pace = Pace {
    least: Duration::from_millis(100),
    most: Duration::from_secs(1),
};

/// A storage account as the keeper of leases sees it.
#[derive(Debug)]
pub struct Server {
    pub(crate) blobs: Arc<Blobs>,
    pub(crate) cache: Arc<Cache>,
    pub(crate) turns: Turns,
    pub(crate) prefix: String,
    pub(crate) tokens: Tokens,
    /// For how long a lease is granted unless another time is wished for.
    pub(crate) time: Duration,
    pub(crate) wake: Option<Wake>,
    /// Who renews a lease has one of these.
    pub(crate) renewing: Semaphore,
}

/// So many leases are renewed at once, each by a request of its own.
pub(crate) const RENEWALS: usize = 64;

/// What names one lease to the server.
#[derive(Debug)]
pub struct Lease {
    pub(crate) id: LockId,
    /// The blob of a mutex; what the blobs of a semaphore begin with.
    pub(crate) blob: Arc<str>,
    pub(crate) owner: OwnerId,
    pub(crate) mode: Mode,
    time: Duration,
    /// The blob that was leased, once one was.
    pub(crate) taken: OnceLock<Arc<str>>,
    /// A question for it may still be on the way.
    in_doubt: AtomicBool,
}

impl Lease {
    /// As the server knows it. Whoever knows it too can end the lease, so it is kept in no other form than
    /// that of the owner, which is not shown whole.
    pub(crate) fn lease_id(&self) -> String {
        record::lease_id(self.owner)
    }

    pub(crate) fn seconds(&self) -> i32 {
        i32::try_from(self.time.as_secs()).unwrap_or(i32::MAX)
    }
}

impl LeaseServer for Server {
    type Lease = Lease;

    async fn renew(&self, leases: Vec<Arc<Lease>>) -> Result<Vec<Renewal>> {
        let mut answers = Vec::with_capacity(leases.len());
        for lease in leases {
            answers.push(self.renew_one(&lease).await);
        }
        Ok(answers)
    }

    async fn surrender(&self, lease: Arc<Lease>) -> Result<()> {
        let Some(blob) = lease.taken.get() else {
            return Ok(());
        };
        let released = match self.blobs.release(blob, &lease.lease_id()).await {
            Ok(()) => Ok(()),
            Err(refusal) => match refusal.said {
                Said::NotOurs | Said::NoBlob | Said::NoContainer => Ok(()),
                _ => Err(refusal.error),
            },
        };
        self.turns.released(blob);
        if let Some(wake) = &self.wake {
            wake.released(lease.owner);
        }
        released
    }

    async fn upgrade(&self, _: Arc<Lease>) -> Result<Upgrade> {
        let message = "blobs have no upgradeable readers";
        Err(Error::new(ErrorKind::Unsupported, message))
    }

    async fn downgrade(&self, _: Arc<Lease>) -> Result<()> {
        Ok(())
    }

    fn pace(&self, lease: &Lease) -> (Pace, Option<Listener>) {
        let listener = self.wake.as_ref().map(|wake| wake.listen(&lease.id));
        (PACE, listener)
    }
}

impl Server {
    async fn renew_one(&self, lease: &Lease) -> Renewal {
        let Some(blob) = lease.taken.get() else {
            return Renewal::Gone;
        };
        // Never closed.
        let _turn = self.renewing.acquire().await;
        match self.blobs.renew(blob, &lease.lease_id()).await {
            Ok(()) => Renewal::Renewed,
            Err(refusal) => match refusal.said {
                Said::NotOurs | Said::NoBlob | Said::NoContainer => Renewal::Gone,
                _ => {
                    let error = refusal.error;
                    tracing::warn!(%error, lock = %lease.id, "a lease could not be renewed yet");
                    Renewal::Unknown
                }
            },
        }
    }
}

impl LeaseTaker for Server {
    fn lease(&self, request: &Request) -> Lease {
        let id = request.id();
        let time = request.lease.unwrap_or(self.time);
        Lease {
            blob: names::blob_of(&self.prefix, &id),
            id,
            owner: request.owner,
            mode: request.mode,
            time: whole_seconds(time),
            taken: OnceLock::new(),
            in_doubt: AtomicBool::new(false),
        }
    }

    fn time(&self, lease: &Lease) -> Duration {
        lease.time
    }

    async fn take(&self, lease: &Arc<Lease>, waits: bool) -> Result<Take, Failure> {
        // Whoever does not wait has this one try.
        if let Some(rest) = self.turns.rest(&lease.blob).filter(|_| waits) {
            return Ok(Take {
                verdict: Verdict::Busy(Some(rest)),
                asked_twice: false,
            });
        }
        let take = match (lease.mode, self.tokens) {
            (Mode::Permit { of }, _) => permits::take(self, lease, of).await?,
            (_, Tokens::Metadata) => mutex::take(self, lease).await?,
            (_, Tokens::Sequence) => sequence::take(self, lease).await?,
        };
        match take.verdict {
            Verdict::Granted(Some(_)) => self.turns.granted(&lease.blob),
            Verdict::Busy(_) => self.turns.others(&lease.blob),
            Verdict::Granted(None) | Verdict::Buried => {}
        }
        if let Some(wake) = &self.wake {
            wake.told(&lease.id, lease.owner, &take.verdict, waits);
        }
        Ok(take)
    }

    fn doubt(&self, lease: &Lease) {
        lease.in_doubt.store(true, Ordering::Relaxed);
    }

    fn leave(&self, lease: &Arc<Lease>) {
        if let Some(wake) = &self.wake {
            wake.left(lease.owner);
        }
        if lease.in_doubt.load(Ordering::Relaxed) && !matches!(lease.mode, Mode::Permit { .. }) {
            let (blobs, cache) = (self.blobs.clone(), self.cache.clone());
            let (blob, lease_id) = (lease.blob.clone(), lease.lease_id());
            keeper::spawn(mutex::bury(blobs, cache, blob, lease_id, lease.time));
        }
    }
}

/// As the server counts, and within what it allows.
fn whole_seconds(time: Duration) -> Duration {
    let more = u64::from(time.subsec_nanos() > 0);
    Duration::from_secs(time.as_secs() + more).clamp(SHORTEST_LEASE, LONGEST_LEASE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wish_becomes_the_nearest_lease_there_is() {
        let wishes = [(1_000, 15), (15_001, 16), (30_000, 30), (3_600_000, 60)];
        for (millis, seconds) in wishes {
            let time = whole_seconds(Duration::from_millis(millis));
            assert_eq!(time, Duration::from_secs(seconds));
        }
    }
}
