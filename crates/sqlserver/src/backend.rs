//! The backend: what is asked of locks goes to the pool, what is asked about them to the server.

use crate::{
    Compat, Options, admin, break_lock, doctor, holders,
    keys::Key,
    open::{Opener, PATIENCE},
};
use lockwork_core::lock::{
    Capability, Deadline, Error, ErrorKind, Guarantee, Holders, Info, LockId, Mode, Name, Report,
    Request, Result, Scope,
    backend::{
        Backend, Hold, Owned,
        session::{self, Pool, SessionHold},
    },
};
use tiberius::Config;

/// What locks in SQL Server are and can do. Less by `tokens=false` and `compat=medallion`.
pub const INFO: Info = Info::new(
    "sqlserver",
    Scope::Cluster,
    Guarantee::Session,
    Capability::all(),
);

/// Locks in a SQL Server database, for all processes that reach it. Clones share their connections.
///
/// ```no_run
/// use lockwork_core::lock::Locks;
/// use lockwork_sqlserver::{Options, SqlServer};
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let options = Options::from_ado("Server=db.example.com;Database=app;User ID=app;Password=secret")?;
/// let locks = Locks::new(options.connect().await?);
/// let guard = locks.mutex("nightly-report").lock().await?;
/// # guard.release().await?; Ok(()) }
/// ```
#[derive(Clone, Debug)]
pub struct SqlServer {
    pool: Pool<Opener>,
}

/// A batch has two parameters for a permit and one for anything else, and 2,100 are the most.
const BATCH: usize = 200;

impl SqlServer {
    /// Connects to the database that `config` names.
    ///
    /// # Errors
    /// As [`Options::connect`].
    pub async fn connect(config: Config) -> Result<Self> {
        Self::options(config).connect().await
    }

    /// How to use the database that `config` names otherwise than usual.
    #[must_use]
    pub fn options(config: Config) -> Options {
        Options::new(config)
    }

    pub(crate) async fn connect_to(options: Options) -> Result<Self> {
        let mut how = session::Options::default();
        how.capacity = options.capacity;
        how.batch = BATCH;
        how.patience = PATIENCE;
        how.server_bears = Some(options.lease);
        how.ping_every = options.lease / 3;
        let server = Self {
            pool: Pool::new(Opener::new(options), how),
        };
        server.look().await?;
        server.try_out().await?;
        Ok(server)
    }

    /// Looks whether locks are safe there.
    async fn look(&self) -> Result<()> {
        let pool = self.pool.clone();
        admin::on_the_keeper(async move { pool.opener().look().await.map(drop) }).await
    }

    /// Takes a lock with all that belongs to it and gives it back: so rights that are missing are told
    /// of now, and whoever asks first need not wait for a connection.
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

    /// What is asked of the server for this, or why it is not asked at all. What a lock wishes for
    /// as its lease a server that knows no leases cannot heed.
    fn heeded(&self, mut request: Request) -> Result<Request> {
        request.lease = None;
        if self.info().capability.has(request.mode) {
            return Ok(request);
        }
        let message = "of what is shared with .NET there are mutexes and read/write locks only: leave \
                       compat away, or use one of these";
        Err(Error::new(ErrorKind::Unsupported, message).with("mode", request.mode.as_str()))
    }
}

impl Backend for SqlServer {
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

    async fn acquire(&self, request: Request) -> Result<Option<Self::Hold>> {
        let request = self.heeded(request)?;
        Ok(self.pool.acquire(request).await?.map(Owned::into_inner))
    }

    async fn acquire_all(&self, requests: Vec<Request>) -> Result<Option<Vec<Self::Hold>>> {
        let requests = requests.into_iter().map(|request| self.heeded(request));
        let granted = self.pool.try_all(requests.collect::<Result<_>>()?).await?;
        Ok(granted.map(|holds| holds.into_iter().map(Owned::into_inner).collect()))
    }

    async fn holders(&self, id: &LockId) -> Result<Holders> {
        let (key, space) = (self.key(id), id.space);
        let look = async move |mut link| holders::look(&mut link, &key, space).await;
        admin::on_a_connection(self.settings(), look).await
    }

    async fn break_lock(&self, id: &LockId) -> Result<usize> {
        let (key, space) = (self.key(id), id.space);
        let end = async move |mut link| break_lock::end(&mut link, &key, space).await;
        admin::on_a_connection(self.settings(), end).await
    }

    async fn doctor(&self) -> Result<Report> {
        let options = self.settings().clone();
        let examine = async move |mut link| doctor::examine(&mut link, &options).await;
        admin::on_a_connection(self.settings(), examine).await
    }
}
