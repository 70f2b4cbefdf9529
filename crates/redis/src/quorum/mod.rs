//! Locks at most of several servers that know nothing of each other (`redis+quorum://`).

mod majority;

pub use majority::{Everywhere, Majority};

use crate::{
    Options,
    about::About,
    backend,
    carrier::{Carrier, MOST},
    doctor, holders,
    server::Server,
    things::{Question, Said, What},
    wire::{PATIENCE, Wire},
};
use lockwork_core::lock::{
    Capability, Error, ErrorKind, Guarantee, Holder, Holders, Info, LockId, Report, Request,
    Result, Scope,
    backend::{
        Backend, Hints,
        lease::{LeaseKeeper, Leased},
        line::{Line, Lines},
        try_each,
    },
};
use majority::too_few;
use std::{collections::HashMap, sync::Arc};

/// What locks at most of several Redis servers are and can do.
pub const QUORUM_INFO: Info = {
    let mut capability = Capability::mutex_only();
    capability.rw_lock = true;
    Info::new(
        "redis+quorum",
        Scope::Cluster,
        Guarantee::BestEffort,
        capability,
    )
};

/// Locks that most of several independent Redis servers grant: they outlive the loss of a minority of
/// those, and are worth no more than the clocks of the rest ([`Guarantee::BestEffort`]). There are no
/// tokens, no upgradeable readers, no semaphores and no order among those who wait.
///
/// ```no_run
/// use lockwork_core::lock::Locks;
/// use lockwork_redis::Options;
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> lockwork_core::lock::Result<()> {
/// let servers = ["a", "b", "c"].map(|host| (host.to_owned(), 6379));
/// let locks = Locks::new(Options::quorum(servers.into()).connect_quorum().await?);
/// # Ok(()) }
/// ```
#[derive(Clone, Debug)]
pub struct RedisQuorum(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    majority: Arc<Majority>,
    keeper: Arc<LeaseKeeper<Majority>>,
    options: Vec<Arc<Options>>,
}

impl RedisQuorum {
    /// Connects; most of the servers have to be there.
    pub(crate) async fn connect_to(options: &Options) -> Result<Self> {
        let each: Vec<_> = options.each().into_iter().map(Arc::new).collect();
        if each.len() < 3 {
            let message = "a quorum is of three servers at least: one of two is no majority";
            return Err(Error::new(ErrorKind::Invalid, message));
        }
        let servers = each.iter().map(|options| server(options.clone())).collect();
        let majority = Arc::new(Majority::new(servers));
        let there = majority
            .at_each(PATIENCE, Majority::all, |_, server| async move {
                server.lines.ask(Question::Ping).await.map(drop)
            })
            .await;
        let answers = there.iter().filter(|said| matches!(said, Some(Ok(()))));
        if answers.count() < majority.enough() {
            // One that refuses us says more than one that is silent.
            let failure = there.into_iter().find_map(|said| said?.err());
            return Err(failure.map_or_else(too_few, Error::from));
        }
        let keeper = Arc::new(LeaseKeeper::new(majority.clone(), MOST));
        Ok(Self(Arc::new(Inner {
            majority,
            keeper,
            options: each,
        })))
    }

    async fn about(&self, what: What, id: &LockId) -> Result<Vec<Said>> {
        let majority = &self.0.majority;
        let said = majority
            .at_each(PATIENCE, Majority::all, |_, server| {
                let thing = backend::about(&server, what, id);
                async move { server.ask(thing).await }
            })
            .await;
        let said: Vec<_> = said
            .into_iter()
            .filter_map(|said| Some(said?.ok()?.0))
            .collect();
        match said.len() >= majority.enough() {
            true => Ok(said),
            false => Err(too_few()),
        }
    }
}

/// One of the servers, which nobody has asked anything yet.
fn server(options: Arc<Options>) -> Arc<Server> {
    let carrier = Carrier::new(options.clone(), None);
    Arc::new(Server {
        lines: Lines::new(None, Line::on_keeper(carrier)),
        hints: Hints::new(),
        prefix: options.prefix.clone(),
        compat: options.compat,
        time: options.lease,
    })
}

impl Backend for RedisQuorum {
    type Hold = Leased<Majority>;

    fn info(&self) -> Info {
        QUORUM_INFO
    }

    async fn acquire(&self, request: Request) -> Result<Option<Self::Hold>> {
        self.0.keeper.take(request).await
    }

    async fn acquire_all(&self, requests: Vec<Request>) -> Result<Option<Vec<Self::Hold>>> {
        try_each(self, requests).await
    }

    async fn holders(&self, id: &LockId) -> Result<Holders> {
        let mut found: HashMap<_, (usize, Holder)> = HashMap::new();
        for said in self.about(What::Look, id).await? {
            if let Said::Seen(seen) = said {
                for mut holder in holders::read(seen)?.holders {
                    // Each server counts for itself.
                    holder.token = None;
                    found.entry(holder.owner).or_insert((0, holder)).0 += 1;
                }
            }
        }
        let enough = self.0.majority.enough();
        let held = found.into_values().filter(|(count, _)| *count >= enough);
        Ok(Holders::new(
            held.map(|(_, holder)| holder).collect(),
            Vec::new(),
        ))
    }

    async fn break_lock(&self, id: &LockId) -> Result<usize> {
        let said = self.about(What::Break, id).await?;
        let counts = said.into_iter().filter_map(|said| match said {
            Said::Done(count) => usize::try_from(count).ok(),
            _ => None,
        });
        Ok(counts.max().unwrap_or_default())
    }

    async fn doctor(&self) -> Result<Report> {
        let options = self.0.options.clone();
        let seen = self
            .0
            .majority
            .at_each(PATIENCE, Majority::all, |at, _| {
                let options = options[at].clone();
                async move {
                    let mut wire = Wire::open(&options, None).await?;
                    About::of(&mut wire).await
                }
            })
            .await;
        let mut findings = vec![doctor::best_effort()];
        for (seen, options) in seen.into_iter().zip(&self.0.options) {
            match seen.unwrap_or_else(|| Err(crate::errors::late())) {
                Ok(about) => findings.extend(doctor::read(&about).findings),
                Err(error) => findings.push(doctor::away(&options.servers, &error)),
            }
        }
        Ok(Report::new(findings))
    }
}
