//! A lease at most of several servers.
//!
//! As in Redlock: what most of them grant within a short time is granted. Whoever is refused, or not
//! granted enough, gives back at once what it has, and what may come late besides; so every try has
//! an owner id of its own.

use crate::{
    errors,
    server::Server,
    things::{Lease, Said, What},
};
use lockwork_core::lock::{
    Error, ErrorKind, OwnerId, Request, Result,
    backend::{
        Hints, Listener, Pace, Upgrade, keeper,
        lease::{LeaseServer, LeaseTaker, Renewal, Take, Verdict},
        line::Failure,
    },
};
use std::{future::Future, sync::Arc, time::Duration};
use tokio::{sync::mpsc, time::timeout};

/// How often to ask again. Nobody tells us, and those who ask at one time get in each other's way.
const PACE: Pace = Pace {
    least: Duration::from_millis(20),
    most: Duration::from_millis(250),
};

/// Several servers that know nothing of each other.
#[derive(Debug)]
pub struct Majority {
    servers: Vec<Arc<Server>>,
    hints: Hints,
}

/// The same lease at each of them.
#[derive(Debug)]
pub struct Everywhere {
    each: Vec<Arc<Lease>>,
}

impl Majority {
    pub(super) fn new(servers: Vec<Arc<Server>>) -> Self {
        Self {
            servers,
            hints: Hints::new(),
        }
    }

    pub(super) const fn enough(&self) -> usize {
        self.servers.len() / 2 + 1
    }

    /// Does the same at each server at once, on the keeper thread, and goes on there; waits until what
    /// they say is enough. `None` of one that has not answered by then, or not within `patience`.
    pub(super) async fn at_each<T, F>(
        &self,
        patience: Duration,
        enough: impl Fn(&[Option<T>]) -> bool + Send,
        what: impl Fn(usize, Arc<Server>) -> F,
    ) -> Vec<Option<T>>
    where
        T: Send + 'static,
        F: Future<Output = T> + Send + 'static,
    {
        let (says, mut hears) = mpsc::unbounded_channel();
        let mut said = Vec::new();
        for (at, server) in self.servers.iter().cloned().enumerate() {
            let (asked, says) = (timeout(patience, what(at, server)), says.clone());
            keeper::spawn(async move {
                // Whoever has heard enough is not there any more.
                let _ = asked.await.map(|answer| says.send((at, answer)));
            });
            said.push(None);
        }
        drop(says);
        while !enough(&said)
            && let Some((at, answer)) = hears.recv().await
        {
            said[at] = Some(answer);
        }
        said
    }

    /// Waits for every server.
    pub(super) const fn all<T>(_: &[Option<T>]) -> bool {
        false
    }

    /// Whether so many have granted it that the others do not matter, or refused it.
    fn is_decided(&self, said: &[Answered]) -> bool {
        let (granted, refused) = (count(said, granted), count(said, refused));
        granted >= self.enough() || refused > self.servers.len() - self.enough()
    }

    /// Gives back what was granted, and what may be granted yet, wherever nobody said no. In the
    /// background: a server that is away would keep everybody waiting.
    fn give_back(&self, lease: &Everywhere, said: &[Answered]) {
        let all = self.servers.iter().zip(&lease.each).zip(said);
        for ((server, lease), _) in all.filter(|(_, said)| !refused(said)) {
            let (server, lease) = (server.clone(), lease.clone());
            server.doubt(&lease);
            keeper::spawn(async move {
                if let Err(error) = server.surrender(lease).await {
                    tracing::debug!(%error, "a grant that is not wanted ends with its lease");
                }
            });
        }
    }
}

/// What one server said to a try, if it did.
type Answered = Option<Result<(Said, bool), Failure>>;

const fn granted(said: &Answered) -> bool {
    matches!(said, Some(Ok((Said::Done(_), _))))
}

const fn refused(said: &Answered) -> bool {
    matches!(said, Some(Ok((Said::Busy(_), _))))
}

fn count(said: &[Answered], which: fn(&Answered) -> bool) -> usize {
    said.iter().filter(|said| which(said)).count()
}

impl Everywhere {
    /// How long one server is waited for: not for most of what the lease is worth, and for longer than a machine takes that
    /// is merely busy.
    fn patience(&self) -> Duration {
        (self.time() / 4).clamp(Duration::from_millis(50), Duration::from_secs(2))
    }

    fn time(&self) -> Duration {
        self.each.first().map_or(Duration::ZERO, |lease| lease.time)
    }
}

impl LeaseServer for Majority {
    type Lease = Everywhere;

    async fn renew(&self, leases: Vec<Arc<Everywhere>>) -> Result<Vec<Renewal>> {
        let patience = leases.iter().map(|lease| lease.patience()).min();
        let said = self
            .at_each(patience.unwrap_or_default(), Self::all, |at, server| {
                let here = leases.iter().map(|lease| lease.each[at].clone()).collect();
                async move { server.renew(here).await }
            })
            .await;
        let said: Vec<_> = said.into_iter().filter_map(|said| said?.ok()).collect();
        let verdict = |at: usize| {
            let count = |renewal| {
                let those = said.iter().filter(|said| said.get(at) == Some(&renewal));
                those.count()
            };
            if count(Renewal::Renewed) >= self.enough() {
                Renewal::Renewed
            } else if count(Renewal::Gone) > self.servers.len() - self.enough() {
                Renewal::Gone
            } else {
                Renewal::Unknown
            }
        };
        Ok((0..leases.len()).map(verdict).collect())
    }

    async fn surrender(&self, lease: Arc<Everywhere>) -> Result<()> {
        let each = lease.each.clone();
        let gave = |given: &[Option<Result<()>>]| {
            let gave = given.iter().filter(|given| matches!(given, Some(Ok(()))));
            gave.count() >= self.enough()
        };
        let given = self
            .at_each(lease.patience(), gave, move |at, server| {
                let lease = each[at].clone();
                async move { server.surrender(lease).await }
            })
            .await;
        if let Some(lease) = lease.each.first() {
            self.hints.hint(&lease.id);
        }
        match gave(&given) {
            true => Ok(()),
            false => Err(given
                .into_iter()
                .find_map(|given| given?.err())
                .unwrap_or_else(errors::late)),
        }
    }

    async fn upgrade(&self, _: Arc<Everywhere>) -> Result<Upgrade> {
        let message = "a quorum has no upgradeable readers";
        Err(Error::new(ErrorKind::Unsupported, message))
    }

    async fn downgrade(&self, _: Arc<Everywhere>) -> Result<()> {
        Ok(())
    }

    fn pace(&self, lease: &Everywhere) -> (Pace, Option<Listener>) {
        let first = lease.each.first();
        (PACE, first.map(|lease| self.hints.listen_later(&lease.id)))
    }
}

impl LeaseTaker for Majority {
    fn lease(&self, request: &Request) -> Everywhere {
        let mut request = request.clone();
        request.owner = OwnerId::random();
        let each = self.servers.iter();
        Everywhere {
            each: each
                .map(|server| Arc::new(server.lease(&request)))
                .collect(),
        }
    }

    fn time(&self, lease: &Everywhere) -> Duration {
        lease.time()
    }

    async fn take(&self, lease: &Arc<Everywhere>, _: bool) -> Result<Take, Failure> {
        let (each, decided) = (lease.each.clone(), |said: &[_]| self.is_decided(said));
        let said = self
            .at_each(lease.patience(), decided, move |at, server| {
                let thing = each[at].clone().thing(What::Take);
                async move { server.ask(thing).await }
            })
            .await;
        let verdict = if count(&said, granted) >= self.enough() {
            Verdict::Granted(None)
        } else {
            self.give_back(lease, &said);
            if count(&said, granted) + count(&said, refused) < self.enough() {
                let failed = said.into_iter().find_map(|said| said?.err());
                let error =
                    failed.map_or_else(too_few, |failure| too_few().because(Error::from(failure)));
                // What was granted is given back; a new try has an owner of its own.
                return Err(Failure::NotDone(error));
            }
            Verdict::Busy(None)
        };
        Ok(Take {
            verdict,
            asked_twice: false,
        })
    }

    fn doubt(&self, lease: &Everywhere) {
        for (server, lease) in self.servers.iter().zip(&lease.each) {
            server.doubt(lease);
        }
    }

    /// Nobody stands in line: a server knows of those only whom it refused itself.
    fn leave(&self, _: &Arc<Everywhere>) {}
}

pub(super) fn too_few() -> Error {
    let message =
        "fewer than half of the Redis servers of the quorum answer: check which of them run";
    Error::new(ErrorKind::Unavailable, message)
}
