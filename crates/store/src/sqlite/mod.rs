//! A store in a file.

mod commit;
mod create;
mod definitions;
pub(crate) mod doctor;
mod errands;
mod error;
mod import;
mod instances;
mod jobs;
mod nodes;
mod offer;
mod open;
mod options;
mod schema;
mod sql;
mod stimuli;
mod tell;
mod turn;
mod within;
mod writer;

pub use options::Options;
pub use within::{Within, within};

use definitions::Cache;
use lockwork_core::workflow::{Answer, Result};
use sqlx::{SqliteConnection, SqlitePool, pool::PoolConnection, sqlite::Sqlite};
use writer::{Lasts, Writer};

/// A store in a file, for all processes of one machine.
///
/// Everything that changes something goes through one thread with one connection, in groups that are committed
/// together; everything else reads beside it. An operation that was handed over goes on to its end, whether or not
/// somebody waits for it. A store that is dropped does what was handed over and closes the file;
/// [`close`](SqliteStore::close) waits for that.
#[derive(Debug)]
pub struct SqliteStore {
    writer: Writer,
    readers: SqlitePool,
    cache: Cache,
}

impl SqliteStore {
    /// Opens the file that a URL names: `sqlite:./lockwork.db`. See [`Options::from_url`].
    ///
    /// # Errors
    /// As [`SqliteStore::open_with`].
    pub async fn open(url: &str) -> Result<Self> {
        Self::open_with(Options::from_url(url)?).await
    }

    /// Opens a file, and creates it if it is missing, for its owner alone.
    ///
    /// # Errors
    /// [`Invalid`](lockwork_core::workflow::ErrorKind::Invalid) if an option is wrong, the directory is missing or the file
    /// is something else; [`Denied`](lockwork_core::workflow::ErrorKind::Denied) if it cannot be written;
    /// [`Unsupported`](lockwork_core::workflow::ErrorKind::Unsupported) if a newer version has changed it or its file system
    /// is none for a store; [`Unavailable`](lockwork_core::workflow::ErrorKind::Unavailable) if another process has it locked
    /// for too long, or the disk fails.
    pub async fn open_with(options: Options) -> Result<Self> {
        let options = options.check()?;
        let mut connection = open::writer(&options).await?;
        if let Err(error) = schema::migrate(&mut connection).await {
            open::close(connection).await;
            return Err(error);
        }
        Ok(Self {
            readers: open::readers(&options),
            writer: Writer::start(connection, options)?,
            cache: Cache::default(),
        })
    }

    /// Does what was handed over, and closes the file. Whoever asks for something afterwards is told that it is closed.
    ///
    /// Dropped half way, it closes the file all the same.
    pub async fn close(&self) {
        self.writer.close().await;
        self.readers.close().await;
    }

    async fn write<T, W>(&self, work: W) -> Result<T>
    where
        T: Send + 'static,
        W: for<'c> FnOnce(&'c mut SqliteConnection) -> Answer<'c, T> + Send + 'static,
    {
        self.writer.write(Lasts::Always, work).await
    }

    /// As [`write`](Self::write), for claims and holds.
    async fn hold<T, W>(&self, work: W) -> Result<T>
    where
        T: Send + 'static,
        W: for<'c> FnOnce(&'c mut SqliteConnection) -> Answer<'c, T> + Send + 'static,
    {
        self.writer.write(Lasts::WhileSomebodyKnows, work).await
    }

    async fn reader(&self) -> Result<PoolConnection<Sqlite>> {
        open::reader(&self.readers).await
    }
}
