//! The backend: what is asked of locks goes to the pool, what is asked about them to the server.

use crate::{
    Compat, Options, admin, break_lock, doctor, holders,
    keys::Key,
    open::{Opener, PATIENCE},
    options::whole,
};
use lockwork_core::lock::{
    Capability, Deadline, Error, ErrorKind, Guarantee, Holders, Info, LockId, Mode, Name, Report,
    Request, Result, Scope,
    backend::{
        Backend, Hold, Owned, keeper,
        session::{self, Pool, SessionHold},
    },
};
use sqlx::postgres::PgConnectOptions;

/// What locks in PostgreSQL are and can do. Less by `tokens=false` and `compat=medallion`;
/// [`PostgresLeases`](crate::PostgresLeases) rest on a lease, and nobody is told when one is free.
pub const INFO: Info = Info::new(
    "postgres",
    Scope::Cluster,
    Guarantee::Session,
    Capability::all(),
);

/// Locks in a PostgreSQL database, for all processes that reach it. Clones share their connections.
///
/// ```no_run
/// use lockwork_core::lock::Locks;
/// use lockwork_postgres::Postgres;
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let server = "postgres://app:secret@db.example.com/app".parse()?;
/// let locks = Locks::new(Postgres::connect(server).await?);
/// let guard = locks.mutex("nightly-report").lock().await?;
/// # guard.release().await?; Ok(()) }
/// ```
#[derive(Clone, Debug)]
pub struct Postgres {
    pool: Pool<Opener>,
}

impl Postgres {
    /// Connects to the database that `server` names.
    ///
    /// # Errors
    /// As [`Options::connect`].
    pub async fn connect(server: PgConnectOptions) -> Result<Self> {
        Self::options(server).connect().await
    }

    /// How to use the database that `server` names otherwise than usual.
    #[must_use]
    pub fn options(server: PgConnectOptions) -> Options {
        Options::new(server)
    }

    pub(crate) async fn connect_to(options: Options) -> Result<Self> {
        let mut how = session::Options::default();
        how.capacity = options.capacity;
        how.patience = PATIENCE;
        how.server_bears = Some(options.bears());
        how.ping_every = options.bears() / 3;
        let pool = Pool::new(Opener::new(options), how);
        // On the keeper: what is opened on the way belongs to no runtime of the caller's.
        let looking = pool.clone();
        let looked =
            keeper::spawn(
                async move { tokio::time::timeout(PATIENCE, looking.opener().look()).await },
            );
        match looked.await {
            Ok(Ok(safe)) => {
                safe?;
                let postgres = Self { pool };
                postgres.try_out().await?;
                Ok(postgres)
            }
            Ok(Err(_)) => Err(Error::new(
                ErrorKind::Unavailable,
                "the PostgreSQL server does not answer: check host and port, and the network",
            )),
            Err(error) => Err(Error::new(ErrorKind::Unexpected, "the keeper ended").because(error)),
        }
    }

    /// Takes a lock and gives it back: so rights that are missing are told of now, and whoever asks
    /// first need not wait for a connection.
    async fn try_out(&self) -> Result<()> {
        let name = Name::new(&format!("lockwork/try-out/{:032x}", rand::random::<u128>()))?;
        let request = Request::new(name, Mode::Exclusive, Deadline::Now);
        match self.pool.acquire(request).await? {
            Some(hold) => hold.release().await,
            None => Ok(()),
        }
    }

    /// How many connections are open for locks. For tests and diagnosis.
    #[must_use]
    pub fn connections(&self) -> usize {
        self.pool.sessions()
    }

    fn settings(&self) -> &Options {
        &self.pool.opener().options
    }

    fn key(&self, id: &LockId) -> Key {
        Key::of(id, self.settings().compat)
    }

    fn refuse_what_is_missing(&self, request: &Request) -> Result<()> {
        if self.info().capability.has(request.mode) {
            return Ok(());
        }
        let message = "locks that are shared with .NET have no such mode there: leave compat away, \
                       or use a mutex or a read/write lock";
        Err(Error::new(ErrorKind::Unsupported, message).with("mode", request.mode.as_str()))
    }
}

impl Backend for Postgres {
    type Hold = SessionHold<Key>;

    fn info(&self) -> Info {
        let settings = self.settings();
        let mut info = INFO;
        info.capability.token &= settings.tokens;
        if settings.compat == Compat::Medallion {
            info.capability.upgradeable = false;
            info.capability.semaphore = false;
        }
        info
    }

    async fn acquire(&self, mut request: Request) -> Result<Option<Self::Hold>> {
        self.refuse_what_is_missing(&request)?;
        request.lease = request.lease.map(whole);
        Ok(self.pool.acquire(request).await?.map(Owned::into_inner))
    }

    async fn acquire_all(&self, mut requests: Vec<Request>) -> Result<Option<Vec<Self::Hold>>> {
        for request in &mut requests {
            self.refuse_what_is_missing(request)?;
            request.lease = request.lease.map(whole);
        }
        let granted = self.pool.try_all(requests).await?;
        Ok(granted.map(|holds| holds.into_iter().map(Owned::into_inner).collect()))
    }

    async fn holders(&self, id: &LockId) -> Result<Holders> {
        let (key, space) = (self.key(id), id.space);
        let look = async move |mut connection| holders::look(&mut connection, key, space).await;
        admin::on_a_connection(self.settings(), look).await
    }

    async fn break_lock(&self, id: &LockId) -> Result<usize> {
        let (key, space) = (self.key(id), id.space);
        let end = async move |mut connection| break_lock::end(&mut connection, key, space).await;
        admin::on_a_connection(self.settings(), end).await
    }

    async fn doctor(&self) -> Result<Report> {
        let options = self.settings().clone();
        let examine = async move |mut connection| doctor::examine(&mut connection, &options).await;
        admin::on_a_connection(self.settings(), examine).await
    }
}
