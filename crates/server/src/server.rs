//! A node on a network.

use crate::{
    bodies,
    counts::Counts,
    endpoints::{self, table::Table},
    keys::Keys,
    limits::Limits,
    links::Secret,
    recent::Recent,
    routes, serve,
    state::{Node, Shared},
};
use futures_util::FutureExt;
use lockwork_core::{
    lock::Locks,
    workflow::{Error, ErrorKind, Result},
};
use lockwork_runtime::{Drained, Event, Host};
use std::{
    future::Future,
    net::SocketAddr,
    pin::pin,
    sync::{Arc, atomic::Ordering::Relaxed},
};
use tokio::{
    net::{TcpListener, ToSocketAddrs},
    sync::{Semaphore, broadcast::error::RecvError},
};
use tokio_util::sync::CancellationToken;

/// Puts a runtime on a network: see [the crate](crate).
#[derive(Debug)]
pub struct Server {
    host: Arc<dyn Host>,
    locks: Option<Locks>,
    keys: Keys,
    secret: Secret,
    limits: Limits,
    base: String,
}

impl Server {
    /// For this runtime, which somebody else [starts](lockwork_runtime::LocalRuntime::start).
    #[must_use]
    pub fn new(host: impl Host + 'static) -> Self {
        Self {
            host: Arc::new(host),
            locks: None,
            keys: Keys::none(),
            secret: Secret::drawn(),
            limits: Limits::default(),
            base: endpoints::BASE.to_owned(),
        }
    }

    /// Lets people see who holds these locks, and break them.
    #[must_use]
    pub fn locks(mut self, locks: Locks) -> Self {
        self.locks = Some(locks);
        self
    }

    /// Who may ask what. Without keys the node is reached from this machine alone.
    #[must_use]
    pub fn keys(mut self, keys: Keys) -> Self {
        self.keys = keys;
        self
    }

    /// What links are signed with. Drawn, unless said otherwise: then a link is good for this process alone.
    #[must_use]
    pub fn secret(mut self, secret: Secret) -> Self {
        self.secret = secret;
        self
    }

    /// How much others may ask of it.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Where the routes are that workflows name: `/orders/{id}` is at `/workflows/orders/{id}`, unless said otherwise. The
    /// same on each node, if somebody shares requests among them.
    #[must_use]
    pub fn workflows_at(mut self, path: impl Into<String>) -> Self {
        self.base = path.into();
        self
    }

    /// Takes an address. Whoever connects from now on is answered once the node [runs](Listening::run).
    ///
    /// # Errors
    /// [`ErrorKind::Invalid`] if others could reach it and there are no keys, or if routes of workflows cannot be where they
    /// are said to be; [`ErrorKind::Unavailable`] if somebody else has the address.
    pub async fn listen(self, at: impl ToSocketAddrs) -> Result<Listening> {
        endpoints::check_base(&self.base)?;
        let listener = TcpListener::bind(at).await.map_err(not_here)?;
        let address = listener.local_addr().map_err(not_here)?;
        if self.keys.is_empty() && !address.ip().is_loopback() {
            let message = "a node without keys is for this machine alone: listen on 127.0.0.1, or give it keys";
            return Err(Error::new(ErrorKind::Invalid, message).with("address", address));
        }
        let node = Arc::new(Shared {
            host: self.host,
            locks: self.locks,
            keys: self.keys,
            secret: self.secret,
            room: Semaphore::new(self.limits.requests),
            bodies: Semaphore::new(bodies::most(self.limits.requests, self.limits.body)),
            limits: self.limits,
            base: self.base,
            table: Table::default(),
            counts: Counts::default(),
            probed: Recent::default(),
            nodes: Recent::default(),
            end: CancellationToken::new(),
        });
        Ok(Listening {
            listener,
            address,
            node,
        })
    }
}

fn not_here(error: std::io::Error) -> Error {
    let message =
        "this address cannot be listened on: is another node there, or is it another machine's?";
    Error::new(ErrorKind::Unavailable, message)
        .transient(false)
        .because(error)
}

/// A node that has its address.
#[derive(Debug)]
pub struct Listening {
    pub(crate) listener: TcpListener,
    address: SocketAddr,
    pub(crate) node: Node,
}

impl Listening {
    /// Where it is.
    #[must_use]
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// Answers, until `end` or until somebody asks it to end. Then it drains the runtime, still answering, and closes its
    /// connections when what they asked for is answered. `end` is waited for until all that is over, so that what it does
    /// when it is told is done also if somebody has asked before.
    ///
    /// # Cancel safety
    /// Dropped, it answers nobody any more, and the runtime goes on.
    pub async fn run(self, end: impl Future<Output = ()> + Send) -> Drained {
        let (node, stop) = (self.node, CancellationToken::new());
        // Whoever drops this ends it.
        let _stops = stop.clone().drop_guard();
        let router = routes::router(&node);
        let accept = serve::accept(self.listener, router, Arc::clone(&node), stop.clone());
        let accept = tokio::spawn(accept);
        let count = tokio::spawn(count(Arc::clone(&node), stop.clone()));
        let mut end = pin!(end.fuse());
        tokio::select! {
            () = &mut end => node.end.cancel(),
            () = node.end.cancelled() => {}
        }
        let ending = async {
            let drained = node.host.drain().await;
            stop.cancel();
            // A panic in there was told by itself.
            let _ = tokio::join!(accept, count);
            drained
        };
        let mut ending = pin!(ending);
        loop {
            tokio::select! {
                drained = &mut ending => return drained,
                // Whoever was asked to end by a request is still told to by a signal: that may be in a hurry.
                () = &mut end => {}
            }
        }
    }
}

/// Counts what happens, for `/metrics`.
async fn count(node: Node, stop: CancellationToken) {
    let mut events = node.runtime().events();
    loop {
        let event = tokio::select! {
            () = stop.cancelled() => return,
            event = events.recv() => event,
        };
        let counter = match event {
            Ok(Event::Created(_)) => &node.counts.created,
            Ok(Event::Committed { .. }) => &node.counts.commits,
            Ok(Event::Buried { .. }) => &node.counts.buried,
            Ok(_) => continue,
            // Most of what there is are commits.
            Err(RecvError::Lagged(missed)) => {
                node.counts.commits.fetch_add(missed, Relaxed);
                continue;
            }
            Err(RecvError::Closed) => return,
        };
        counter.fetch_add(1, Relaxed);
    }
}

/// Putting a runtime on a network in one call.
pub trait Serve: Host + Clone + Sized + 'static {
    /// Answers on this address until the future is dropped or somebody asks the node to end: from this machine alone,
    /// because it has no keys. [`Server`] has more to say.
    ///
    /// # Errors
    /// Those of [`Server::listen`].
    fn serve(&self, at: impl ToSocketAddrs + Send) -> impl Future<Output = Result<Drained>> + Send {
        let server = Server::new(self.clone());
        async move {
            let listening = server.listen(at).await?;
            Ok(listening.run(std::future::pending()).await)
        }
    }
}

impl<H: Host + Clone + 'static> Serve for H {}
