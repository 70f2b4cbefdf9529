//! Locks as rows with a lease (`?mode=lease`): for databases that are reached through a pooler.
//!
//! A pooler in transaction mode gives every transaction another connection, so nothing may rest on
//! one: no lock of a session, no notification, no prepared statement. What is left is a table, and
//! functions that work on it, each in one message and one transaction (`functions.sql`). Leases are
//! judged by the server's clock and kept by the engine's
//! [`LeaseKeeper`](lockwork_core::lock::backend::lease::LeaseKeeper).

mod doctor;
mod holders;
mod install;
mod key;
mod line;
mod server;
mod statement;
mod worker;

pub use server::{Lease, LeaseTable};

use self::{
    key::Key,
    line::Line,
    server::Said,
    statement::{Argument, Statement},
};
use crate::{INFO, Options, errors::refused, open, open::standby, settings};
use lockwork_core::lock::{
    Error, ErrorKind, Guarantee, Holders, Info, LockId, Report, Request, Result,
    backend::{
        Backend, Hints, keeper,
        lease::{LeaseKeeper, Leased},
        try_each,
    },
};
use sqlx::{ConnectOptions, Row};
use std::{sync::Arc, time::Duration};

/// How many leases are renewed in one statement.
const BATCH: usize = 200;

/// Locks in a PostgreSQL database as rows with a lease. Clones share their connections, of which
/// there are two at most.
///
/// ```no_run
/// use lockwork_core::lock::Locks;
/// use lockwork_postgres::Options;
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let pooler = "postgres://app:secret@pooler.example.com:6432/app".parse()?;
/// let locks = Locks::new(Options::new(pooler).connect_leases().await?);
/// let guard = locks.mutex("nightly-report").lock().await?;
/// # guard.release().await?; Ok(()) }
/// ```
#[derive(Clone, Debug)]
pub struct PostgresLeases(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    server: Arc<LeaseTable>,
    keeper: Arc<LeaseKeeper<LeaseTable>>,
}

impl PostgresLeases {
    pub(crate) async fn connect_to(mut options: Options, time: Duration) -> Result<Self> {
        options.connect = options
            .connect
            .statement_cache_capacity(0)
            // There are owner ids in statements, and whoever knows one can release its lock.
            .disable_statement_logging();
        let looking = options.clone();
        // On the keeper: what is opened on the way belongs to no runtime of the caller's.
        let looked = keeper::spawn(tokio::time::timeout(open::PATIENCE, async move {
            let mut connection = looking.connect.connect().await.map_err(refused)?;
            match install::ensure(&mut connection, &looking).await {
                Ok(()) => Ok(connection),
                Err(error) => {
                    settings::close(connection).await;
                    Err(error)
                }
            }
        }));
        let connection = match looked.await {
            Ok(Ok(safe)) => safe?,
            Ok(Err(_)) => {
                let message =
                    "the PostgreSQL server does not answer: check host and port, and the network";
                return Err(Error::new(ErrorKind::Unavailable, message));
            }
            Err(error) => {
                return Err(Error::new(ErrorKind::Unexpected, "the keeper ended").because(error));
            }
        };
        let server = Arc::new(LeaseTable {
            line: Line::new(&options, connection),
            hints: Hints::new(),
            options,
            time,
        });
        let keeper = Arc::new(LeaseKeeper::new(server.clone(), BATCH));
        Ok(Self(Arc::new(Inner { server, keeper })))
    }

    /// What an administrator runs where the role of `options` may not create a table and functions.
    #[must_use]
    pub fn script(options: &Options) -> String {
        install::script(options)
    }

    fn about(&self, text: &'static str, arguments: &[Argument<'_>]) -> Statement {
        Statement::about(&self.0.server.options, text, arguments)
    }
}

impl Backend for PostgresLeases {
    type Hold = Leased<LeaseTable>;

    fn info(&self) -> Info {
        let mut info = INFO;
        info.guarantee = Guarantee::Lease;
        // Notifications do not come through a pooler.
        info.capability.push = false;
        info
    }

    async fn acquire(&self, request: Request) -> Result<Option<Self::Hold>> {
        self.0.keeper.take(request).await
    }

    async fn acquire_all(&self, requests: Vec<Request>) -> Result<Option<Vec<Self::Hold>>> {
        try_each(self, requests).await
    }

    async fn holders(&self, id: &LockId) -> Result<Holders> {
        let look = self.about(holders::LOOK, &[(&Key::of(id)).into()]);
        holders::read(&self.0.server.line.ask_alone(look).await?)
    }

    async fn break_lock(&self, id: &LockId) -> Result<usize> {
        let (server, key) = (&self.0.server, Key::of(id));
        let arguments = [Argument::Number(key.number), (&key).into()];
        let statement = Statement::call(&server.options, "lease_break_v1", &arguments);
        let said = Said::of(&server.line.ask(key.number, statement).await?)?;
        server.hints.hint(id);
        count(said.answer.unwrap_or_default())
    }

    async fn doctor(&self) -> Result<Report> {
        let server = &self.0.server;
        let rows = server.line.ask_alone(doctor::question(&server.options));
        doctor::read(&rows.await?)
    }

    async fn collect(&self, idle: Duration) -> Result<usize> {
        // Who is at work on a row is not waited for, so this is in nobody's way.
        let text = "WITH gone AS (DELETE FROM SCHEMA.lease WHERE ctid = ANY(ARRAY( \
              SELECT ctid FROM SCHEMA.lease \
              WHERE expires <= clock_timestamp() - least(?, 3155760000000) * interval '1 ms' \
              FOR UPDATE SKIP LOCKED)) RETURNING key) \
            SELECT count(DISTINCT key) FROM gone";
        let idle = i64::try_from(idle.as_millis()).unwrap_or(i64::MAX);
        let statement = self.about(text, &[Argument::Number(idle)]);
        let rows = self.0.server.line.ask_alone(statement).await?;
        let row = rows.first().ok_or_else(contradiction)?;
        count(row.try_get(0).map_err(refused)?)
    }
}

fn count(number: i64) -> Result<usize> {
    usize::try_from(number).map_err(|_| contradiction())
}

/// The server answered something else than was asked.
fn contradiction() -> Error {
    let message = "PostgreSQL answered a question about leases with something else: another version \
                   of lockwork may have made the functions";
    Error::new(ErrorKind::Unexpected, message)
}

/// What a failed question means.
fn refusal(error: sqlx::Error) -> Error {
    let code = error.as_database_error().and_then(|error| error.code());
    match code.as_deref() {
        Some("55P03" | "57014") => {
            let message = "the table of leases was busy for too long: try again later";
            Error::new(ErrorKind::Unavailable, message).because(error)
        }
        Some("0A000") => standby().because(error),
        Some("42883") => {
            let message = "the functions of lockwork are gone from the database: connect anew, which \
                           makes them again";
            Error::new(ErrorKind::Denied, message).because(error)
        }
        _ => refused(error),
    }
}
