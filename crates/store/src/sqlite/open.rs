//! Opening the file, as safely as a store needs it.

use super::{Options, error};
use lockwork_core::workflow::{Error, ErrorKind, Result};
use sqlx::{
    ConnectOptions, Connection, SqliteConnection, SqlitePool,
    pool::PoolConnection,
    sqlite::{
        Sqlite, SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous,
    },
};
use std::{fs::OpenOptions, io, time::Duration};
use tokio::time::Instant;

/// What a connection remembers of the file, in KiB: a writer sees most of it again at once, a reader seldom.
const WRITER_CACHE: &str = "-2048";
const READER_CACHE: &str = "-256";

/// The longest texts of statements are those of commits, in about as many forms as parts of them are optional.
const STATEMENTS: usize = 256;

/// For so long nobody needs a second reader.
const IDLE: Duration = Duration::from_secs(60);

/// How often a file that another process is just making a store of is looked at.
const AGAIN: Duration = Duration::from_millis(20);

fn connect_options(options: &Options) -> SqliteConnectOptions {
    SqliteConnectOptions::new()
        .filename(&options.file)
        .create_if_missing(false)
        .journal_mode(SqliteJournalMode::Wal)
        // With anything less, what was committed last is lost with the power.
        .synchronous(SqliteSynchronous::Full)
        .busy_timeout(options.busy)
        .foreign_keys(false)
        .statement_cache_capacity(STATEMENTS)
        .disable_statement_logging()
}

/// The connection that writes. Whoever comes first makes the file.
pub(super) async fn writer(options: &Options) -> Result<SqliteConnection> {
    create(options)?;
    let connect = connect_options(options)
        .pragma("cache_size", WRITER_CACHE)
        .thread_name(|_| "lockwork-sqlite-file".to_owned());
    let until = Instant::now() + options.busy;
    // Whoever is about to make the file one with a log beside it lets nobody else wait for that.
    let mut connection = loop {
        match connect.connect().await {
            Err(failed) if error::is_busy(&failed) && Instant::now() < until => {
                tokio::time::sleep(AGAIN).await;
            }
            connected => break connected.map_err(error::of)?,
        }
    };
    check_log(&mut connection).await?;
    Ok(connection)
}

/// A connection that changes nothing about the file, and makes none.
pub(super) async fn as_it_is(options: &Options) -> Result<SqliteConnection> {
    let connect = SqliteConnectOptions::new()
        .filename(&options.file)
        .create_if_missing(false)
        .busy_timeout(options.busy)
        .disable_statement_logging();
    connect.connect().await.map_err(error::of)
}

/// Connections that read.
pub(super) fn readers(options: &Options) -> SqlitePool {
    let connect = connect_options(options)
        .pragma("cache_size", READER_CACHE)
        .pragma("query_only", "on")
        .thread_name(|_| "lockwork-sqlite-read".to_owned());
    SqlitePoolOptions::new()
        .max_connections(options.readers)
        .min_connections(0)
        .idle_timeout(IDLE)
        .acquire_timeout(options.busy.max(AGAIN))
        // A question would take as long as a look at the file.
        .test_before_acquire(false)
        .connect_lazy_with(connect)
}

/// One of those that read.
pub(super) async fn reader(readers: &SqlitePool) -> Result<PoolConnection<Sqlite>> {
    readers.acquire().await.map_err(error::of)
}

/// A new file is for its owner alone: the values of workflows are in it.
fn create(options: &Options) -> Result<()> {
    let mut open = OpenOptions::new();
    open.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut open, 0o600);
    match open.open(&options.file) {
        Ok(_) => Ok(()),
        Err(exists) if exists.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        Err(failed) => Err(cannot_create(options, failed)),
    }
}

fn cannot_create(options: &Options, failed: io::Error) -> Error {
    let (kind, message) = match failed.kind() {
        io::ErrorKind::NotFound => (
            ErrorKind::Invalid,
            "the directory of the store's file does not exist: create it, or name another one",
        ),
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => (
            ErrorKind::Denied,
            "the store's file cannot be created: allow this process to write into the directory",
        ),
        _ => (
            ErrorKind::Unavailable,
            "the store's file cannot be created: check its directory and its disk",
        ),
    };
    Error::new(kind, message)
        .with("directory", options.directory().display())
        .because(failed)
}

/// Without a log beside the file readers and the writer would wait for each other, and a file system that cannot
/// have one is not one for a store.
async fn check_log(connection: &mut SqliteConnection) -> Result<()> {
    match log_mode(connection).await?.as_str() {
        "wal" => Ok(()),
        other => {
            let message = "this file system cannot have a store: it has no memory that processes share. \
                           Use a local disk, and not a network file system";
            Err(Error::new(ErrorKind::Unsupported, message).with("journal_mode", other))
        }
    }
}

/// How what is about to change is kept: `wal` in a log beside the file.
pub(super) async fn log_mode(connection: &mut SqliteConnection) -> Result<String> {
    let mode = sqlx::query_scalar("PRAGMA journal_mode");
    mode.fetch_one(connection).await.map_err(error::of)
}

/// Ends a connection, whatever is left of it.
pub(super) async fn close(connection: SqliteConnection) {
    if let Err(error) = connection.close().await {
        tracing::debug!(%error, "a connection to the store's file was not closed in order");
    }
}
