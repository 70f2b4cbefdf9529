//! The backend: a container of Azure Blob storage.

use crate::{
    Options,
    blobs::Blobs,
    cache::Cache,
    collect, doctor, holders, names,
    refusal::Said,
    server::{RENEWALS, Server},
    turns::Turns,
};
use lockwork_core::lock::{
    Capability, Error, ErrorKind, Guarantee, Held, Holders, Info, LockId, Report, Request, Result,
    Scope,
    backend::{
        Backend, keeper,
        lease::{LeaseKeeper, Leased},
        try_each,
        wake::Wake,
    },
};
use std::{sync::Arc, time::Duration};
use tokio::sync::Semaphore;

/// What locks in blobs are and can do. With [`Options::wake`], those who wait are told, too.
pub const INFO: Info = Info::new("azblob", Scope::Cluster, Guarantee::Lease, {
    let mut capability = Capability::mutex_only();
    capability.semaphore = true;
    capability.token = true;
    capability
});

/// Locks in a container of Azure Blob storage. Clones share their connections.
#[derive(Clone, Debug)]
pub struct Azure(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    server: Arc<Server>,
    keeper: Arc<LeaseKeeper<Server>>,
    options: Options,
}

impl Azure {
    pub(crate) async fn connect_to(options: Options) -> Result<Self> {
        let blobs = Arc::new(Blobs::new(options.client()?));
        let server = Arc::new(Server {
            blobs,
            cache: Arc::new(Cache::default()),
            turns: Turns::default(),
            prefix: options.prefix.clone(),
            tokens: options.tokens,
            time: options.lease,
            wake: options.wake.clone().map(Wake::new),
            renewing: Semaphore::new(RENEWALS),
        });
        let asked = server.clone();
        on_keeper(async move { find_container(&asked).await }).await?;
        // Each lease is a request of its own.
        let keeper = Arc::new(LeaseKeeper::new(server.clone(), 1));
        Ok(Self(Arc::new(Inner {
            server,
            keeper,
            options,
        })))
    }
}

/// Looks for a blob that is not there: that needs no other right than locks do, and tells whether the
/// container is.
async fn find_container(server: &Server) -> Result<()> {
    let nothing = format!("{}nothing", names::all(&server.prefix));
    let refusal = match server.blobs.look(&nothing).await {
        Ok(_) => return Ok(()),
        Err(refusal) => refusal,
    };
    match refusal.said {
        Said::NoBlob => Ok(()),
        Said::NoContainer => match server.blobs.create_container().await {
            Ok(()) => Ok(()),
            Err(created) if created.said == Said::Exists => Ok(()),
            // What is wrong is that it is missing, and not that we may not create it.
            Err(created) if created.said == Said::Refused => Err(refusal.error),
            Err(created) => Err(created.error),
        },
        _ => Err(refusal.error),
    }
}

/// Connections are opened, and go on, on the keeper: none belongs to a runtime of the caller's.
async fn on_keeper<T: Send + 'static>(
    work: impl Future<Output = Result<T>> + Send + 'static,
) -> Result<T> {
    keeper::spawn(work).await.unwrap_or_else(|error| {
        Err(Error::new(ErrorKind::Unexpected, "the keeper ended").because(error))
    })
}

impl Backend for Azure {
    type Hold = Leased<Server>;

    fn info(&self) -> Info {
        let mut info = INFO;
        info.capability.push = self.0.server.wake.is_some();
        info
    }

    fn acquire(&self, request: Request) -> impl Future<Output = Result<Option<Self::Hold>>> + Send {
        self.0.keeper.take(request)
    }

    async fn acquire_all(&self, requests: Vec<Request>) -> Result<Option<Vec<Self::Hold>>> {
        try_each(self, requests).await
    }

    async fn holders(&self, id: &LockId) -> Result<Holders> {
        let (server, id) = (self.0.server.clone(), id.clone());
        on_keeper(async move { holders::look(&server, &id).await }).await
    }

    async fn held(&self, beginning: &str) -> Result<Vec<Held>> {
        let (server, beginning) = (self.0.server.clone(), beginning.to_owned());
        on_keeper(async move { holders::all(&server, &beginning).await }).await
    }

    async fn break_lock(&self, id: &LockId) -> Result<usize> {
        let (server, id) = (self.0.server.clone(), id.clone());
        on_keeper(async move { holders::break_all(&server, &id).await }).await
    }

    async fn doctor(&self) -> Result<Report> {
        let (server, options) = (self.0.server.clone(), self.0.options.clone());
        on_keeper(async move { doctor::look(&server, &options).await }).await
    }

    async fn collect(&self, idle: Duration) -> Result<usize> {
        let server = self.0.server.clone();
        on_keeper(async move { collect::all(&server, idle).await }).await
    }
}
