//! A server of leases that answers renewals as it is told, and a backend on it.

use super::{
    events::{Count, Gate},
    ms,
};
use lockwork_core::lock::{
    Backend, Capability, Error, ErrorKind, Guarantee, Holders, Info, Instant, LockId, Report,
    Request, Result, Scope, Token,
    backend::{
        Attempt, Listener, Owned, Pace, Upgrade,
        lease::{LeaseKeeper, LeaseServer, Leased, Renewal, Terms},
        try_each, wait_for_grant,
    },
};
use std::{
    collections::{HashSet, VecDeque},
    sync::{Arc, Mutex, MutexGuard},
    thread,
    time::Duration,
};

/// How one renewal is answered.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Answer {
    /// At once, for each lease.
    Each(Renewal),
    /// After so long.
    Late(Duration, Renewal),
    /// After so long, and then the whole keeper thread has no time for so long.
    Frozen(Duration, Duration),
    Fail,
    Never,
    /// For one lease less than asked.
    TooFew,
}

/// One call for renewals.
#[derive(Clone, Debug)]
pub(crate) struct Call {
    pub(crate) at: Instant,
    pub(crate) leases: Vec<String>,
}

/// The server. Leases are called by names.
#[derive(Debug, Default)]
pub(crate) struct Leases {
    state: Mutex<State>,
    pub(crate) renewals: Count,
    pub(crate) surrenders: Count,
    /// A surrender passes here before anything is done.
    pub(crate) surrender: Gate,
    /// A lock passes here after it was taken and before that is told.
    pub(crate) take: Gate,
    /// An upgrade passes here before anything is done.
    pub(crate) upgrade_sent: Gate,
    /// An upgrade passes here after it was granted and before that is told.
    pub(crate) upgrade: Gate,
}

#[derive(Debug, Default)]
struct State {
    script: VecDeque<Answer>,
    afterwards: Option<Answer>,
    calls: Vec<Call>,
    taken: HashSet<String>,
    /// What happened to writers, in order.
    writers: Vec<&'static str>,
}

impl Leases {
    /// Answers the next renewals by `script`, and all after it like the last of it.
    pub(crate) fn answering(script: impl IntoIterator<Item = Answer>) -> Arc<Self> {
        let server = Self::default();
        server.state().script.extend(script);
        Arc::new(server)
    }

    pub(crate) fn calls(&self) -> Vec<Call> {
        self.state().calls.clone()
    }

    /// What was done to upgrade, in order: `up`, `down` and `end`.
    pub(crate) fn writers(&self) -> Vec<&'static str> {
        self.state().writers.clone()
    }

    fn take(&self, name: &str) -> bool {
        self.state().taken.insert(name.to_owned())
    }

    fn next(&self, leases: Vec<String>) -> Answer {
        let mut state = self.state();
        let at = Instant::now();
        state.calls.push(Call { at, leases });
        if let Some(next) = state.script.pop_front() {
            state.afterwards = Some(next);
        }
        state.afterwards.unwrap_or(Answer::Each(Renewal::Renewed))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("no test panics under this lock")
    }
}

impl LeaseServer for Leases {
    type Lease = String;

    async fn renew(&self, leases: Vec<Arc<String>>) -> Result<Vec<Renewal>> {
        let asked = leases.len();
        let names = leases.iter().map(|lease| lease.as_str().to_owned());
        let answer = self.next(names.collect());
        self.renewals.add();
        match answer {
            Answer::Each(renewal) => Ok(vec![renewal; asked]),
            Answer::Late(by, renewal) => {
                tokio::time::sleep(by).await;
                Ok(vec![renewal; asked])
            }
            Answer::Frozen(after, by) => {
                tokio::time::sleep(after).await;
                thread::sleep(by);
                Ok(vec![Renewal::Renewed; asked])
            }
            Answer::Fail => Err(Error::new(ErrorKind::Unavailable, "the server is away")),
            Answer::Never => std::future::pending().await,
            Answer::TooFew => Ok(vec![Renewal::Renewed; asked.saturating_sub(1)]),
        }
    }

    async fn surrender(&self, lease: Arc<String>) -> Result<()> {
        self.surrender.pass().await;
        let mut state = self.state();
        state.taken.remove(lease.as_str());
        state.writers.push("end");
        drop(state);
        self.surrenders.add();
        Ok(())
    }

    async fn upgrade(&self, _: Arc<String>) -> Result<Upgrade> {
        self.upgrade_sent.pass().await;
        self.state().writers.push("up");
        self.upgrade.pass().await;
        Ok(Upgrade::Done(Token::from_server(7)))
    }

    async fn downgrade(&self, _: Arc<String>) -> Result<()> {
        self.state().writers.push("down");
        Ok(())
    }

    fn pace(&self, _: &String) -> (Pace, Option<Listener>) {
        (PACE, None)
    }
}

const PACE: Pace = Pace {
    least: ms(2),
    most: ms(10),
};

/// A lease of `time` that the server granted just now, renewed.
pub(crate) fn terms(name: &str, time: Duration) -> Terms<String> {
    Terms {
        lease: name.to_owned(),
        token: Token::from_server(1),
        asked_at: Instant::now(),
        time,
        renew: true,
    }
}

/// A backend of leases.
#[derive(Debug)]
pub(crate) struct LeaseBackend {
    server: Arc<Leases>,
    keeper: Arc<LeaseKeeper<Leases>>,
    /// Unless asked for another.
    time: Duration,
}

impl LeaseBackend {
    pub(crate) fn new(server: Arc<Leases>, time: Duration) -> Self {
        Self {
            keeper: Arc::new(LeaseKeeper::new(server.clone(), 128)),
            server,
            time,
        }
    }
}

impl Backend for LeaseBackend {
    type Hold = Leased<Leases>;

    fn info(&self) -> Info {
        Info::new(
            "fake-lease",
            Scope::Cluster,
            Guarantee::Lease,
            Capability::mutex_only(),
        )
    }

    async fn acquire(&self, request: Request) -> Result<Option<Leased<Leases>>> {
        let name = request.id().to_string();
        let attempt = || {
            let (server, keeper) = (self.server.clone(), self.keeper.clone());
            let terms = Terms {
                renew: request.renew,
                ..terms(&name, request.lease.unwrap_or(self.time))
            };
            async move {
                let taken = server.take(&terms.lease);
                server.take.pass().await;
                Ok(if taken {
                    Attempt::Granted(keeper.keep(terms))
                } else {
                    Attempt::Busy { again_in: None }
                })
            }
        };
        let releases = &request.releases;
        let granted = wait_for_grant(request.deadline, PACE, None, releases, attempt).await?;
        Ok(granted.map(Owned::into_inner))
    }

    async fn acquire_all(&self, requests: Vec<Request>) -> Result<Option<Vec<Self::Hold>>> {
        try_each(self, requests).await
    }

    async fn holders(&self, _: &LockId) -> Result<Holders> {
        Ok(Holders::default())
    }

    async fn break_lock(&self, _: &LockId) -> Result<usize> {
        Ok(0)
    }

    async fn doctor(&self) -> Result<Report> {
        Ok(Report::default())
    }
}
