//! PostgreSQL: a real server, on which each case has a database of its own.

use crate::{BoxFuture, Harness, Promise, Residue, Started};
use lockwork::{Locks, Result, postgres::Postgres};
use sqlx::{
    AssertSqlSafe, ConnectOptions, Executor, PgConnection, Row,
    postgres::{PgConnectOptions, PgRow},
};
use std::{sync::Arc, thread, time::Duration};

/// Where the server is.
pub(super) const SERVER: &str = "LOCKWORK_POSTGRES_URL";

struct Database {
    /// Of the server, with the right to make databases.
    server: PgConnectOptions,
    url: String,
    name: String,
}

/// Locks in a database of the server that `LOCKWORK_POSTGRES_URL` names.
///
/// # Errors
/// If no server is named, or it cannot be reached.
pub fn start() -> Started {
    let url = std::env::var(SERVER)
        .map_err(|_| format!("{SERVER} names no server; `cargo xtask test` starts one"))?;
    let server: PgConnectOptions = url.parse().map_err(|_| format!("{SERVER} is no URL"))?;
    let name = format!("lockwork_{:016x}", rand::random::<u64>());
    run(&server, format!("CREATE DATABASE {name}")).map_err(|error| error.to_string())?;
    let (base, _) = url.rsplit_once('/').ok_or("a URL names a database")?;
    Ok(Arc::new(Database {
        server,
        url: format!("{base}/{name}"),
        name,
    }))
}

/// Asks the server, from wherever this is called.
fn ask<T: Send + 'static>(
    server: &PgConnectOptions,
    question: impl AsyncFnOnce(&mut PgConnection) -> sqlx::Result<T> + Send + 'static,
) -> sqlx::Result<T> {
    let server = server.clone();
    let asking = thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread();
        let runtime = { runtime }.enable_all().build().expect("a runtime");
        runtime.block_on(async {
            let mut connection = server.connect().await?;
            question(&mut connection).await
        })
    });
    asking.join().expect("the server is asked without a panic")
}

pub(super) fn run(server: &PgConnectOptions, text: String) -> sqlx::Result<()> {
    ask(server, async move |connection| {
        connection.execute(AssertSqlSafe(text)).await.map(drop)
    })
}

pub(super) fn row(server: &PgConnectOptions, text: String) -> sqlx::Result<PgRow> {
    ask(server, async move |connection| {
        connection.fetch_one(AssertSqlSafe(text)).await
    })
}

impl Harness for Database {
    fn client(&self, tenure: Duration) -> BoxFuture<'_, Result<Locks>> {
        Box::pin(async move {
            let postgres = Postgres::connect(self.server.clone().database(&self.name)).await?;
            Ok(Locks::with_tenure(postgres, tenure))
        })
    }

    fn url(&self) -> Option<String> {
        Some(self.url.clone())
    }

    fn sever(&self) -> Option<BoxFuture<'_, ()>> {
        Some(Box::pin(async {
            let text = format!(
                "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity \
                 WHERE datname = '{}'",
                self.name
            );
            run(&self.server, text).expect("the server ends sessions");
        }))
    }

    /// Whose notifications are held back has a site of its own.
    fn mute(&self) {}

    fn residue(&self) -> Option<Residue> {
        // Sessions that say that they are there hold a pair of numbers each.
        let text = format!(
            "SELECT count(*) FROM pg_locks l JOIN pg_database d ON d.oid = l.database \
             WHERE l.locktype = 'advisory' AND l.objsubid = 1 AND d.datname = '{}'",
            self.name
        );
        let row = row(&self.server, text).expect("the server lists its locks");
        let locks: i64 = row.get(0);
        let locks = usize::try_from(locks).expect("a count");
        Some(Residue { locks, waiters: 0 })
    }

    fn promises(&self, promise: Promise) -> bool {
        // Its list of locks has neither an order of those who wait nor tokens.
        !matches!(promise, Promise::Order | Promise::KnowsTokens)
    }

    fn takeover(&self) -> Duration {
        Duration::from_millis(250)
    }

    fn notice(&self) -> Duration {
        Duration::from_millis(250)
    }

    fn patience(&self) -> Duration {
        Duration::from_millis(400)
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        let text = format!("DROP DATABASE IF EXISTS {} WITH (FORCE)", self.name);
        if let Err(error) = run(&self.server, text) {
            eprintln!("{} stays: {error}", self.name);
        }
    }
}
