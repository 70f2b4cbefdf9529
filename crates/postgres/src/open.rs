//! Connecting: looking once whether locks are safe there, then a session for each who needs one.

use crate::{
    errors::refused, keys::Key, options::Options, pooler, presence, schema, session::Connection,
    settings, statement::Statements,
};
use lockwork_core::lock::{Error, ErrorKind, LockId, Result, backend::session::Open};
use sqlx::{
    Acquire, ConnectOptions, Executor, PgConnection, Row,
    postgres::{PgListener, PgPoolOptions},
    raw_sql,
};
use std::{
    sync::atomic::{AtomicUsize, Ordering},
    time::Duration,
};
use tokio::sync::OnceCell;

/// How long getting in may take.
pub(crate) const PATIENCE: Duration = Duration::from_secs(5);

/// How long to try again while the server has no room or refuses connections: it may be starting.
/// The rest of the patience is for asking why.
const TRYING: Duration = Duration::from_secs(3);

/// The first version with `idle_session_timeout` and `client_connection_check_interval`.
const OLDEST: i32 = 140_000;

/// Opens sessions of one database.
#[derive(Debug)]
pub(crate) struct Opener {
    pub(crate) options: Options,
    statements: Statements,
    safe: OnceCell<()>,
    quota: AtomicUsize,
}

impl Opener {
    pub(crate) fn new(options: Options) -> Self {
        let sequence = options.tokens.then(|| options.sequence());
        let pairs = options.compat != crate::Compat::None;
        Self {
            statements: Statements::new(sequence.as_deref(), pairs),
            quota: AtomicUsize::new(options.quota.unwrap_or(usize::MAX)),
            safe: OnceCell::new(),
            options,
        }
    }

    /// Looks whether locks are safe there, once.
    pub(crate) async fn look(&self) -> Result<()> {
        self.safe.get_or_try_init(|| self.look_now()).await.copied()
    }

    async fn look_now(&self) -> Result<()> {
        let mut connection = self.options.connect.connect().await.map_err(refused)?;
        let safe = self.is_safe(&mut connection).await;
        settings::close(connection).await;
        safe
    }

    async fn is_safe(&self, connection: &mut PgConnection) -> Result<()> {
        let room = room(connection).await?;
        pooler::refuse(connection, &self.options.connect).await?;
        if self.options.tokens {
            schema::ensure(connection, &self.options).await?;
        }
        if self.options.quota.is_none() {
            self.quota.store(room / 2, Ordering::Relaxed);
        }
        Ok(())
    }

    /// A connection that can hold locks, run statements and listen.
    async fn listener(&self) -> Result<PgListener> {
        let pool = PgPoolOptions::new()
            .max_connections(1)
            .acquire_timeout(TRYING)
            .idle_timeout(None)
            .max_lifetime(None)
            .test_before_acquire(false)
            .connect_lazy_with(self.options.connect.clone());
        let mut listener = match PgListener::connect_with(&pool).await {
            Err(error @ sqlx::Error::PoolTimedOut) => return Err(self.why(error).await),
            other => other.map_err(refused)?,
        };
        listener.ignore_pool_close_event(true);
        listener.eager_reconnect(false);
        // It would connect anew without a word, and its locks would be gone. From a closed pool it
        // cannot; closing takes effect at once, and nobody waits for it to end.
        drop(pool.close());
        Ok(listener)
    }

    /// Why it took too long, which the driver's pool keeps to itself.
    async fn why(&self, too_long: sqlx::Error) -> Error {
        match self.options.connect.connect().await {
            Err(error) => refused(error),
            Ok(connection) => {
                settings::close(connection).await;
                refused(too_long)
            }
        }
    }
}

/// Refuses a server that is too old.
fn refuse_old(version: i32) -> Result<()> {
    if version >= OLDEST {
        return Ok(());
    }
    let message = "this PostgreSQL is too old to free the locks of a process that is frozen: use \
                   version 14 or later";
    Err(Error::new(ErrorKind::Denied, message).with("server_version_num", version))
}

/// How many locks the server has room for; refuses one that is too old, or not the primary.
async fn room(connection: &mut PgConnection) -> Result<usize> {
    let text = "SELECT current_setting('server_version_num')::int4, pg_is_in_recovery(), \
        current_setting('max_locks_per_transaction')::int8 * \
        (current_setting('max_connections')::int8 \
         + current_setting('max_prepared_transactions')::int8)";
    let row = connection.fetch_one(raw_sql(text)).await.map_err(refused)?;
    refuse_old(row.try_get(0).map_err(refused)?)?;
    let is_standby: bool = row.try_get(1).map_err(refused)?;
    if is_standby {
        return Err(standby());
    }
    let room: i64 = row.try_get(2).map_err(refused)?;
    Ok(usize::try_from(room).unwrap_or(usize::MAX))
}

pub(crate) fn standby() -> Error {
    let message = "this server is a standby, whose locks exclude nobody on the primary: connect to \
                   the primary";
    Error::new(ErrorKind::Denied, message)
}

impl Open for Opener {
    type Session = Connection;

    async fn open(&self, bears: Option<Duration>) -> Result<Connection> {
        self.look().await?;
        let mut listener = self.listener().await?;
        let connection = listener.acquire().await.map_err(refused)?;
        settings::prepare(connection, bears).await?;
        presence::announce(connection, &self.options).await?;
        Ok(Connection::new(listener, self.statements.clone()))
    }

    fn key(&self, id: &LockId) -> Key {
        Key::of(id, self.options.compat)
    }

    fn quota(&self) -> usize {
        self.quota.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// There is none to be had for the suite.
    #[test]
    fn a_server_that_is_too_old_is_told_what_is_not() {
        let error = refuse_old(130_014).expect_err("13.14 is too old");
        assert_eq!(error.kind(), ErrorKind::Denied);
        let text = error.to_string();
        assert!(text.contains("use version 14 or later"), "{text}");
        assert!(text.contains("server_version_num=130014"), "{text}");
        assert!(refuse_old(OLDEST).is_ok());
    }
}
