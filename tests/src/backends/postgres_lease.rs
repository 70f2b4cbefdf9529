//! PostgreSQL with `mode=lease`: a real server, reached directly and through PgBouncer in transaction
//! mode. Each case has a database of its own.

use super::postgres::{SERVER, row, run};
use crate::{BoxFuture, Harness, Promise, Residue, Started};
use lockwork::{Locks, Result, postgres::Postgres};
use sqlx::{Row, postgres::PgConnectOptions};
use std::{sync::Arc, time::Duration};

/// Where the pooler is, in front of the same server.
const POOLER: &str = "LOCKWORK_PGBOUNCER_URL";

/// Short enough to see them end, long enough for a busy machine to renew them.
const LEASE: Duration = Duration::from_secs(2);

/// A database of leases; dropped, it is gone.
#[derive(Debug)]
pub struct Database {
    /// Of the server, with the right to make databases.
    server: PgConnectOptions,
    /// Where its clients go.
    through: PgConnectOptions,
    url: String,
    name: String,
}

/// Leases in a database of the server that `LOCKWORK_POSTGRES_URL` names.
///
/// # Errors
/// If no server is named, or it cannot be reached.
pub fn direct() -> Started {
    Ok(Arc::new(Database::new(SERVER)?))
}

/// The same through the pooler that `LOCKWORK_PGBOUNCER_URL` names.
///
/// # Errors
/// If no pooler is named, or no server behind it, or that cannot be reached.
pub fn pooled() -> Started {
    Ok(Arc::new(Database::new(POOLER)?))
}

fn named(variable: &str) -> std::result::Result<(String, PgConnectOptions), String> {
    let url = std::env::var(variable)
        .map_err(|_| format!("{variable} names no server; `cargo xtask test` starts one"))?;
    let options = url.parse().map_err(|_| format!("{variable} is no URL"))?;
    Ok((url, options))
}

impl Database {
    /// An empty one, whose clients go to what `variable` names.
    ///
    /// # Errors
    /// If there is no server.
    pub fn new(variable: &str) -> std::result::Result<Self, String> {
        let (_, server) = named(SERVER)?;
        let (url, through) = named(variable)?;
        let name = format!("lockwork_{:016x}", rand::random::<u64>());
        run(&server, format!("CREATE DATABASE {name}")).map_err(|error| error.to_string())?;
        let (base, _) = url.rsplit_once('/').ok_or("a URL names a database")?;
        let millis = LEASE.as_millis();
        Ok(Self {
            url: format!("{base}/{name}?mode=lease&lease={millis}ms"),
            through: through.database(&name).extra_float_digits(None),
            server,
            name,
        })
    }

    /// How its clients reach it.
    #[must_use]
    pub fn through(&self) -> PgConnectOptions {
        self.through.clone()
    }

    /// Runs `text` in it.
    ///
    /// # Panics
    /// If the server refuses.
    pub fn run(&self, text: &str) {
        let ran = run(&self.server.clone().database(&self.name), text.to_owned());
        ran.expect("the server does as it is told");
    }

    /// Sets something for all who connect from now on.
    ///
    /// # Panics
    /// If the server refuses.
    pub fn set(&self, setting: &str) {
        self.run(&format!("ALTER DATABASE {} SET {setting}", self.name));
    }

    /// A role that may connect and nothing else, with the password `secret`.
    ///
    /// # Panics
    /// If the server refuses.
    #[must_use]
    pub fn role(&self) -> Role {
        let name = format!("{}_role", self.name);
        self.run(&format!("CREATE ROLE {name} LOGIN PASSWORD 'secret'"));
        Role {
            server: self.server.clone(),
            database: self.name.clone(),
            name,
        }
    }

    /// The number that `text` asks for; zero from an empty database.
    ///
    /// # Panics
    /// If the server refuses.
    #[must_use]
    pub fn number(&self, text: &str) -> i64 {
        let inside = self.server.clone().database(&self.name);
        let exists = "SELECT (to_regclass('lockwork.lease') IS NOT NULL)::int4::int8".to_owned();
        let exists: i64 = row(&inside, exists).expect("the server answers").get(0);
        if exists == 0 {
            return 0;
        }
        let found = row(&inside, text.to_owned());
        found.expect("the server answers").get(0)
    }

    fn count(&self, condition: &str) -> usize {
        let text = format!(
            "SELECT count(*) FROM lockwork.lease WHERE expires > clock_timestamp() AND {condition}"
        );
        usize::try_from(self.number(&text)).expect("a count")
    }
}

/// A role of the server; dropped, it is gone.
#[derive(Debug)]
pub struct Role {
    server: PgConnectOptions,
    database: String,
    name: String,
}

impl Role {
    /// What it is called.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }
}

impl Drop for Role {
    fn drop(&mut self) {
        let name = &self.name;
        let inside = self.server.clone().database(&self.database);
        let text = format!("DROP OWNED BY {name}; DROP ROLE {name}");
        if let Err(error) = run(&inside, text) {
            eprintln!("{name} stays: {error}");
        }
    }
}

impl Harness for Database {
    fn client(&self, tenure: Duration) -> BoxFuture<'_, Result<Locks>> {
        Box::pin(async move {
            let options = Postgres::options(self.through()).lease(LEASE);
            Ok(Locks::with_tenure(options.connect_leases().await?, tenure))
        })
    }

    fn url(&self) -> Option<String> {
        Some(self.url.clone())
    }

    fn sever(&self) -> Option<BoxFuture<'_, ()>> {
        Some(Box::pin(async {
            self.run("DELETE FROM lockwork.lease");
        }))
    }

    /// Nobody is told anyhow, except inside one process.
    fn mute(&self) {}

    fn residue(&self) -> Option<Residue> {
        Some(Residue {
            locks: self.count("mode <> 0 AND NOT waits"),
            waiters: self.count("waits"),
        })
    }

    fn promises(&self, promise: Promise) -> bool {
        // A lock that is free goes to whoever asks next: the first in a line could be asleep. Rows have hashes of names.
        !matches!(promise, Promise::Order | Promise::ListsHeld)
    }

    /// Each grant waits for the server's disk.
    fn drops(&self) -> u32 {
        2_000
    }

    fn takeover(&self) -> Duration {
        LEASE + Duration::from_secs(1)
    }

    fn notice(&self) -> Duration {
        LEASE
    }

    fn patience(&self) -> Duration {
        Duration::from_millis(700)
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
