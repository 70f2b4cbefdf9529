//! PostgreSQL: a real server, on which each case has a database of its own.

mod least;

pub use least::least;

use crate::{BoxFuture, Harness, Promise, Residue, Started};
use lockwork::{Locks, Result, postgres::Postgres};
use sqlx::{
    AssertSqlSafe, ConnectOptions, Executor, PgConnection, Row,
    postgres::{PgConnectOptions, PgRow},
};
use std::{
    path::Path,
    sync::{Arc, Mutex, MutexGuard, Once},
    thread,
    time::Duration,
};

/// Where the server is.
pub(super) const SERVER: &str = "LOCKWORK_POSTGRES_URL";

struct Database {
    /// Of the server, with the right to make databases.
    server: PgConnectOptions,
    /// As whom clients come.
    client: PgConnectOptions,
    url: String,
    name: String,
    least: bool,
}

/// Locks in a database of the server that `LOCKWORK_POSTGRES_URL` names.
///
/// # Errors
/// If no server is named, or it cannot be reached.
pub fn start() -> Started {
    started(false)
}

fn started(least: bool) -> Started {
    let (url, server) = server()?;
    let name = database(&server, least).map_err(|error| error.to_string())?;
    let (client, url) = match least {
        true => (least::client(&server), least::url(&server, &name)),
        false => (server.clone(), in_database(&url, &name)?),
    };
    Ok(Arc::new(Database {
        client: client.database(&name),
        server,
        url,
        name,
        least,
    }))
}

/// The server that is named.
fn server() -> std::result::Result<(String, PgConnectOptions), String> {
    let url = std::env::var(SERVER)
        .map_err(|_| format!("{SERVER} names no server; `cargo xtask test` starts one"))?;
    let server = url.parse().map_err(|_| format!("{SERVER} is no URL"))?;
    Ok((url, server))
}

fn in_database(url: &str, name: &str) -> std::result::Result<String, String> {
    let (base, _) = url.rsplit_once('/').ok_or("a URL names a database")?;
    Ok(format!("{base}/{name}"))
}

/// The URL of a database nobody uses, which stays as long as this process does.
pub(crate) fn new_database() -> std::result::Result<String, String> {
    let (url, server) = server()?;
    let name = database(&server, false).map_err(|error| error.to_string())?;
    in_database(&url, &name)
}

/// Those that a case has left, and whether they are for the least rights: making one takes longer
/// than most cases do.
static LEFT: Mutex<Vec<(String, bool)>> = Mutex::new(Vec::new());

fn left() -> MutexGuard<'static, Vec<(String, bool)>> {
    LEFT.lock().expect("no panic under this lock")
}

/// A database nobody uses.
fn database(server: &PgConnectOptions, least: bool) -> sqlx::Result<String> {
    static FIRST: Once = Once::new();
    FIRST.call_once(|| remove_those_of_the_dead(server));
    let found = left().extract_if(.., |(_, is)| *is == least).next();
    if let Some((name, _)) = found {
        return Ok(name);
    }
    let name = format!(
        "lockwork_{}_{:x}",
        std::process::id(),
        rand::random::<u32>()
    );
    run(server, format!("CREATE DATABASE {name}"))?;
    if least {
        least::prepare(server, &name)?;
    }
    Ok(name)
}

/// Removes what test programs left that have ended.
fn remove_those_of_the_dead(server: &PgConnectOptions) {
    let text = "SELECT coalesce(string_agg(datname, ','), '') FROM pg_database \
                WHERE datname LIKE 'lockwork\\_%'";
    let Ok(row) = row(server, text.to_owned()) else {
        return;
    };
    let names: String = row.get(0);
    for name in names.split(',') {
        let process = name
            .split('_')
            .nth(1)
            .filter(|part| part.parse::<u32>().is_ok());
        if process.is_some_and(|process| !Path::new("/proc").join(process).exists()) {
            // Another test program may be at it.
            let _ = run(server, format!("DROP DATABASE {name} WITH (FORCE)"));
        }
    }
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

impl Database {
    fn end_sessions(&self) -> String {
        let name = &self.name;
        format!(
            "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = '{name}'"
        )
    }
}

impl Harness for Database {
    fn client(&self, tenure: Duration) -> BoxFuture<'_, Result<Locks>> {
        Box::pin(async move {
            let postgres = Postgres::connect(self.client.clone()).await?;
            Ok(Locks::with_tenure(postgres, tenure))
        })
    }

    fn url(&self) -> Option<String> {
        Some(self.url.clone())
    }

    fn sever(&self) -> Option<BoxFuture<'_, ()>> {
        Some(Box::pin(async {
            run(&self.server, self.end_sessions()).expect("the server ends sessions");
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
        // Its list of locks has neither names, nor an order of those who wait, nor tokens.
        !matches!(
            promise,
            Promise::Order | Promise::KnowsTokens | Promise::ListsHeld
        )
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

/// Left without sessions and locks, for the next case.
impl Drop for Database {
    fn drop(&mut self) {
        match run(&self.server, self.end_sessions()) {
            Ok(()) => left().push((self.name.clone(), self.least)),
            Err(error) => eprintln!("{} is not used again: {error}", self.name),
        }
    }
}
