//! What the server can do with leases, as the engine asks for it.

use crate::{
    Compat, errors,
    options::{LONGEST_LEASE, SHORTEST_LEASE},
    owners::Word,
    things::{Answer, Lease, Question, Said, Thing, What},
};
use futures_util::FutureExt as _;
use lockwork_core::lock::{
    Error, ErrorKind, LockId, Loss, Mode, OwnerId, Request, Result,
    backend::{
        Hints, Listener, Pace, Upgrade,
        lease::{LeaseServer, LeaseTaker, Renewal, Take, Verdict},
        line::{Failure, Lines},
    },
};
use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

/// How often to ask again where nothing is told: less than the server keeps a turn for.
const PACE: Pace = Pace {
    least: Duration::from_millis(1),
    most: Duration::from_millis(900),
};

/// How often to ask again where nobody ever tells us.
const PACE_UNTOLD: Pace = Pace {
    least: Duration::from_millis(10),
    most: Duration::from_millis(200),
};

/// A Redis server as the keeper of leases sees it.
#[derive(Debug)]
pub struct Server {
    pub(crate) lines: Lines<Question, Answer>,
    pub(crate) hints: Hints,
    pub(crate) prefix: String,
    pub(crate) compat: Compat,
    /// For how long a lease is granted unless another time is wished for.
    pub(crate) time: Duration,
}

impl Lease {
    pub(crate) fn new(id: LockId, owner: OwnerId, mode: Mode, time: Duration) -> Self {
        Self {
            id,
            owner: Word::of(&owner),
            mode,
            time,
            in_doubt: AtomicBool::new(false),
        }
    }

    pub(crate) const fn thing(self: Arc<Self>, what: What) -> Thing {
        Thing {
            what,
            lease: self,
            buried: false,
        }
    }

    /// Gives it back, and its place among those who wait.
    fn give(self: Arc<Self>) -> Thing {
        Thing {
            what: What::Give,
            buried: self.in_doubt.load(Ordering::Relaxed),
            lease: self,
        }
    }
}

impl Server {
    /// Asks for one thing; and whether that was asked before, and nobody knows what was said to it.
    pub(crate) fn ask(
        &self,
        thing: Thing,
    ) -> impl Future<Output = Result<(Said, bool), Failure>> + Send {
        self.lines.ask(Question::One(thing)).map(|answer| {
            let answer = answer?;
            let asked_twice = answer.asked_twice || answer.said.asked_twice;
            match answer.said.said.first() {
                // The script itself says so: it was not done.
                Some(Said::Failed(error)) if !asked_twice => Err(Failure::NotDone(error)),
                Some(Said::Failed(error)) => Err(Failure::Unknown(error)),
                Some(said) => Ok((said, asked_twice)),
                None => Err(Failure::Unknown(errors::contradiction())),
            }
        })
    }
}

impl LeaseServer for Server {
    type Lease = Lease;

    // Lines do all that.
    const QUIET: bool = true;

    async fn renew(&self, leases: Vec<Arc<Lease>>) -> Result<Vec<Renewal>> {
        let things = leases.into_iter().map(|lease| lease.thing(What::Renew));
        let answer = self.lines.ask(Question::Each(things.collect())).await?;
        let said = answer.said.said.all().into_iter();
        Ok(said
            .map(|said| match said {
                Said::Done(_) => Renewal::Renewed,
                Said::Gone => Renewal::Gone,
                _ => Renewal::Unknown,
            })
            .collect())
    }

    fn surrender(&self, lease: Arc<Lease>) -> impl Future<Output = Result<()>> + Send {
        let given = self.ask(lease.give());
        given.map(|given| given.map(drop).map_err(Error::from))
    }

    async fn upgrade(&self, lease: Arc<Lease>) -> Result<Upgrade> {
        match self.ask(lease.thing(What::Rise)).await? {
            (Said::Done(token), _) => Ok(Upgrade::Done(Said::token(token)?)),
            (Said::Busy(_), _) => Ok(Upgrade::Busy),
            (Said::Gone, _) => Err(Error::from(Loss::Taken)),
            (Said::Wrong, _) => {
                let message = "only an upgradeable reader can be upgraded";
                Err(Error::new(ErrorKind::Invalid, message))
            }
            _ => Err(errors::contradiction()),
        }
    }

    async fn downgrade(&self, lease: Arc<Lease>) -> Result<()> {
        let fallen = self.ask(lease.thing(What::Fall)).await;
        fallen.map(drop).map_err(Error::from)
    }

    fn pace(&self, lease: &Lease) -> (Pace, Option<Listener>) {
        match self.compat {
            Compat::None => (PACE, Some(self.hints.listen_later(&lease.id))),
            Compat::Medallion => (PACE_UNTOLD, None),
        }
    }
}

impl LeaseTaker for Server {
    fn lease(&self, request: &Request) -> Lease {
        let time = request.lease.unwrap_or(self.time);
        let time = time.clamp(SHORTEST_LEASE, LONGEST_LEASE);
        Lease::new(request.id(), request.owner, request.mode, time)
    }

    fn time(&self, lease: &Lease) -> Duration {
        lease.time
    }

    fn take(
        &self,
        lease: &Arc<Lease>,
        waits: bool,
    ) -> impl Future<Output = Result<Take, Failure>> + Send {
        let what = match waits {
            true => What::Wait,
            false => What::Take,
        };
        self.ask(lease.clone().thing(what)).map(|answer| {
            let (said, asked_twice) = answer?;
            let verdict = match said {
                Said::Done(token) => {
                    Verdict::Granted(Said::token(token).map_err(Failure::NotDone)?)
                }
                Said::Busy(millis) => Verdict::Busy(Some(again_in(millis))),
                Said::Buried => Verdict::Buried,
                _ => return Err(Failure::Unknown(errors::contradiction())),
            };
            Ok(Take {
                verdict,
                asked_twice,
            })
        })
    }

    fn doubt(&self, lease: &Lease) {
        lease.in_doubt.store(true, Ordering::Relaxed);
    }

    fn leave(&self, lease: &Arc<Lease>) {
        let leave = match lease.in_doubt.load(Ordering::Relaxed) {
            true => lease.clone().give(),
            false => lease.clone().thing(What::Leave),
        };
        self.lines.tell(Question::One(leave));
    }
}

/// When the lease that is in the way ends, and a moment more: the server counts whole milliseconds.
fn again_in(millis: i64) -> Duration {
    let rest = u64::try_from(millis).map(|millis| Duration::from_millis(millis + 1));
    rest.unwrap_or(PACE.most)
}
