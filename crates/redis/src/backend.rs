//! The backend: Redis, by one connection on the runtime that connected and one on the keeper.

use crate::{
    Compat, Options,
    about::{self, About},
    carrier::{Carrier, Listens, MOST},
    doctor, errors, holders,
    inbox::{Ears, Inbox},
    options::Deployment,
    scan,
    server::Server,
    things::{Lease, Question, Said, Thing, What},
    wire::{Subscription, Wire},
};
use lockwork_core::lock::{
    Capability, Deadline, Error, ErrorKind, Guarantee, Held, Holders, Info, Instant, LockId, Mode,
    OwnerId, Report, Request, Result, Scope, Space,
    backend::{
        Attempt, Backend, Hints, Owned, Pace, keeper,
        lease::{LeaseKeeper, LeaseTaker, Leased, Terms},
        line::{Line, Lines},
        try_each, wait_until,
    },
};
use std::{num::NonZeroU32, sync::Arc, time::Duration};
use tokio::{
    runtime::Handle,
    sync::{Notify, mpsc},
};

/// What locks in Redis are and can do: one server, a cluster or a primary that sentinels know. Less
/// by `compat=medallion`.
pub const INFO: Info = Info::new("redis", Scope::Cluster, Guarantee::Lease, Capability::all());

/// Locks in Redis. Clones share their connections.
#[derive(Clone, Debug)]
pub struct Redis(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    server: Arc<Server>,
    keeper: Arc<LeaseKeeper<Server>>,
    options: Arc<Options>,
}

impl Redis {
    pub(crate) async fn connect_to(options: Options) -> Result<Self> {
        let options = Arc::new(options);
        let (carrier, ears) = way(&options);
        // On the keeper: what is opened on the way belongs to no runtime of the caller's.
        let opening = keeper::spawn(async move {
            let opened = carrier.open().await;
            opened.map(|_| carrier)
        });
        let carrier = opening.await.map_err(ended)??;
        let (mut near, mut near_ears) = (None, None);
        if let Ok(runtime) = Handle::try_current() {
            let (carrier, ears) = way(&options);
            carrier.open().await?;
            near = Some(Line::on(&runtime, carrier));
            near_ears = Some((runtime, ears));
        }
        let server = Arc::new(Server {
            lines: Lines::new(near, Line::on_keeper(carrier)),
            hints: Hints::new(),
            prefix: options.prefix.clone(),
            compat: options.compat,
            time: options.lease,
        });
        let keeper = Arc::new(LeaseKeeper::new(server.clone(), MOST));
        keeper::spawn(Inbox::new(ears, &server, &keeper).run());
        if let Some((runtime, ears)) = near_ears {
            runtime.spawn(Inbox::new(ears, &server, &keeper).run());
        }
        Ok(Self(Arc::new(Inner {
            server,
            keeper,
            options,
        })))
    }

    /// Of these locks those that are held, asked for together.
    async fn those_held(&self, ids: Vec<LockId>) -> Result<Vec<Held>> {
        let asked = ids.into_iter().map(|id| {
            let this = self.clone();
            keeper::spawn(async move { this.holders(&id).await.map(|holders| (id, holders)) })
        });
        let asked: Vec<_> = asked.collect();
        let mut held = Vec::with_capacity(asked.len());
        for looked in asked {
            match looked.await.map_err(ended)? {
                Ok((_, holders)) if holders.holders.is_empty() => {}
                Ok((id, holders)) => {
                    held.push(Held::whole(id.space, id.name.as_str().to_owned(), holders));
                }
                // A key of somebody else's hides no lock.
                Err(error) if error.kind() == ErrorKind::Invalid => {
                    tracing::warn!(%error, "a key that looks like a lock's is left out");
                }
                Err(error) => return Err(error),
            }
        }
        Ok(held)
    }

    async fn ask_about(&self, what: What, id: &LockId) -> Result<Said> {
        let server = &self.0.server;
        let (said, _) = server.ask(about(server, what, id)).await?;
        Ok(said)
    }
}

/// A way to the server that is still to be opened, and where one hears what it says by itself: who
/// asks this way is told this way, on the runtime on which it asked.
fn way(options: &Arc<Options>) -> (Carrier, Ears) {
    let inbox = format!("{}:1:inbox:{:032x}", options.prefix, rand::random::<u128>());
    let (pushes, heard) = mpsc::unbounded_channel();
    let opened = Arc::new(Notify::new());
    let listens = Listens {
        to: Subscription {
            channel: inbox,
            pushes,
        },
        opened: opened.clone(),
    };
    let carrier = Carrier::new(options.clone(), Some(listens));
    (carrier, Ears { heard, opened })
}

/// Something about a lock that is no owner's business.
pub(crate) fn about(server: &Server, what: What, id: &LockId) -> Thing {
    let mode = match id.space {
        Space::Mutex => Mode::Exclusive,
        Space::Semaphore => Mode::Permit {
            of: NonZeroU32::MIN,
        },
        _ => Mode::Write,
    };
    let nobody = OwnerId::from_bytes([0; 16]);
    Arc::new(Lease::new(id.clone(), nobody, mode, server.time)).thing(what)
}

impl Inner {
    /// All of these or none, by one call.
    async fn take_all(self: Arc<Self>, requests: Vec<Request>) -> Result<Attempt<Holds>> {
        let leases = requests.iter().map(|r| Arc::new(self.server.lease(r)));
        let leases: Vec<Arc<Lease>> = leases.collect();
        let things = leases.iter().map(|lease| lease.clone().thing(What::Take));
        let asked_at = Instant::now();
        let answer = self
            .server
            .lines
            .ask(Question::All(things.collect()))
            .await?;
        let asked_twice = answer.asked_twice || answer.said.asked_twice;
        let mut tokens = Vec::with_capacity(leases.len());
        for said in answer.said.said.all() {
            match said {
                Said::Done(token) => tokens.push(Said::token(token)?),
                Said::Busy(_) => return Ok(Attempt::Busy { again_in: None }),
                Said::Failed(error) => return Err(error),
                _ => return Err(errors::contradiction()),
            }
        }
        let keep = |((lease, token), request): ((Arc<Lease>, _), &Request)| {
            if asked_twice {
                self.server.doubt(&lease);
            }
            let terms = Terms {
                time: self.server.time(&lease),
                lease,
                token,
                asked_at,
                renew: request.renew,
            };
            Owned::new(self.keeper.keep(terms), request.releases.clone())
        };
        let leases = leases.into_iter().zip(tokens).zip(&requests);
        Ok(Attempt::Granted(leases.map(keep).collect()))
    }
}

type Holds = Vec<Owned<Leased<Server>>>;

impl Backend for Redis {
    type Hold = Leased<Server>;

    fn info(&self) -> Info {
        let mut info = INFO;
        if self.0.options.compat == Compat::Medallion {
            info.capability.upgradeable = false;
            info.capability.token = false;
            info.capability.push = false;
        }
        info
    }

    fn acquire(&self, request: Request) -> impl Future<Output = Result<Option<Self::Hold>>> + Send {
        self.0.keeper.take(request)
    }

    async fn acquire_all(&self, requests: Vec<Request>) -> Result<Option<Vec<Self::Hold>>> {
        // Keys of different slots have no script in common, and theirs knows nothing of it.
        let apart = self.0.options.deployment == Deployment::Cluster
            || self.0.options.compat != Compat::None;
        if apart || requests.len() >= MOST {
            return try_each(self, requests).await;
        }
        let pace = Pace {
            least: Duration::ZERO,
            most: Duration::ZERO,
        };
        let all = || self.0.clone().take_all(requests.clone());
        let taken = wait_until(Deadline::Now, pace, None, all).await?;
        Ok(taken.map(|all| all.into_iter().map(Owned::into_inner).collect()))
    }

    async fn holders(&self, id: &LockId) -> Result<Holders> {
        match self.ask_about(What::Look, id).await? {
            Said::Seen(seen) => holders::read(seen),
            _ => Err(errors::contradiction()),
        }
    }

    async fn held(&self, beginning: &str) -> Result<Vec<Held>> {
        if self.0.options.compat != Compat::None {
            let message = "keys that are shared with .NET's DistributedLock cannot be told from others: ask for one by \
                           its name, as `lockwork holders NAME` does";
            return Err(Error::new(ErrorKind::Unsupported, message));
        }
        let (options, beginning) = (self.0.options.clone(), beginning.to_owned());
        // A connection of its own, on the keeper as all of them.
        let found = keeper::spawn(async move { scan::locks(&options, &beginning).await });
        let found: Vec<_> = found.await.map_err(ended)??.into_iter().collect();
        let mut held = Vec::new();
        for ids in found.chunks(MOST) {
            held.extend(self.those_held(ids.to_vec()).await?);
        }
        Ok(held)
    }

    async fn break_lock(&self, id: &LockId) -> Result<usize> {
        match self.ask_about(What::Break, id).await? {
            Said::Done(count) => usize::try_from(count).map_err(|_| errors::contradiction()),
            _ => Err(errors::contradiction()),
        }
    }

    async fn doctor(&self) -> Result<Report> {
        let options = self.0.options.clone();
        // A connection of its own, on the keeper as all of them.
        let look = keeper::spawn(async move {
            let mut wire = Wire::open(&options, None).await?;
            About::of(&mut wire).await
        });
        let about = look.await.map_err(ended)??;
        match about.get("redis_version") {
            Some(_) => Ok(doctor::read(&about)),
            None => Err(about::unknown()),
        }
    }
}

fn ended(error: tokio::task::JoinError) -> Error {
    Error::new(ErrorKind::Unexpected, "the keeper ended").because(error)
}
