//! Redis with `compat=medallion`: keys as .NET's DistributedLock has them, which begin with nothing of
//! ours. So each case has a database of the server.

use super::redis::SERVER;
use crate::{BoxFuture, Harness, Promise, Residue, Started};
use lockwork::{
    Locks, Result,
    redis::{Compat, Options},
};
use redis::{Cmd, Connection, FromRedisValue};
use std::{
    sync::{Arc, Condvar, Mutex},
    time::Duration,
};

/// Short enough to see them end, long enough for a busy machine to renew them.
const LEASE: Duration = Duration::from_secs(2);

/// The databases that nobody uses. The first is left to the other sites.
static FREE: Mutex<Vec<u32>> = Mutex::new(Vec::new());
static FREED: Condvar = Condvar::new();
static FIRST: std::sync::Once = std::sync::Once::new();

struct Database {
    number: u32,
    host: String,
    port: u16,
    connection: Mutex<Connection>,
}

/// Locks in a database of the server that `LOCKWORK_REDIS_URL` names.
///
/// # Errors
/// If no server is named, or it cannot be reached.
pub fn start() -> Started {
    let url = std::env::var(SERVER)
        .map_err(|_| format!("{SERVER} names no server; `cargo xtask test` starts one"))?;
    let (_, server) = url.split_once("://").ok_or("a URL has a scheme")?;
    let (host, port) = server.rsplit_once(':').ok_or("a server has a port")?;
    let port = port.parse().map_err(|_| "a port is a number")?;
    let number = one();
    let connection = redis::Client::open(format!("{url}/{number}"))
        .and_then(|client| client.get_connection())
        .map_err(|error| error.to_string())?;
    let database = Database {
        number,
        host: host.to_owned(),
        port,
        connection: Mutex::new(connection),
    };
    database.tell(&redis::cmd("FLUSHDB"));
    Ok(Arc::new(database))
}

/// A database that is free, once one is.
fn one() -> u32 {
    FIRST.call_once(|| FREE.lock().expect("no panic under this lock").extend(1..16));
    let free = FREE.lock().expect("no panic under this lock");
    let mut free = FREED
        .wait_while(free, |free| free.is_empty())
        .expect("no panic under this lock");
    free.pop().expect("there is one")
}

impl Database {
    fn ask<T: FromRedisValue>(&self, command: &Cmd) -> T {
        let mut connection = self.connection.lock().expect("no panic under this lock");
        let said = command.query(&mut *connection);
        said.expect("the server does as it is told")
    }

    fn tell(&self, command: &Cmd) {
        self.ask::<redis::Value>(command);
    }

    fn holders(&self, key: &str) -> usize {
        let kind: String = self.ask(redis::cmd("TYPE").arg(key));
        match kind.as_str() {
            "zset" => self.ask(redis::cmd("ZCARD").arg(key)),
            "set" => self.ask(redis::cmd("SCARD").arg(key)),
            _ => 1,
        }
    }
}

impl Harness for Database {
    fn client(&self, tenure: Duration) -> BoxFuture<'_, Result<Locks>> {
        Box::pin(async move {
            let options = Options::new(&self.host, self.port)
                .database(self.number)
                .compat(Compat::Medallion)
                .lease(LEASE);
            Ok(Locks::with_tenure(options.connect().await?, tenure))
        })
    }

    fn url(&self) -> Option<String> {
        let Self {
            host, port, number, ..
        } = self;
        let lease = LEASE.as_millis();
        Some(format!(
            "redis://{host}:{port}/{number}?compat=medallion&lease={lease}ms"
        ))
    }

    fn sever(&self) -> Option<BoxFuture<'_, ()>> {
        Some(Box::pin(async { self.tell(&redis::cmd("FLUSHDB")) }))
    }

    /// Nobody is told anyhow.
    fn mute(&self) {}

    /// Who waits looks again after a while, so each of them takes that long.
    fn drops(&self) -> u32 {
        4_000
    }

    fn residue(&self) -> Option<Residue> {
        let keys: Vec<String> = self.ask(redis::cmd("KEYS").arg("*"));
        Some(Residue {
            locks: keys.iter().map(|key| self.holders(key)).sum(),
            waiters: 0,
        })
    }

    fn promises(&self, promise: Promise) -> bool {
        matches!(
            promise,
            Promise::WholeNames | Promise::WriterPreference | Promise::KnowsHolders
        )
    }

    fn takeover(&self) -> Duration {
        LEASE + Duration::from_secs(1)
    }

    fn notice(&self) -> Duration {
        LEASE
    }

    fn patience(&self) -> Duration {
        Duration::from_millis(600)
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        FREE.lock()
            .expect("no panic under this lock")
            .push(self.number);
        FREED.notify_one();
    }
}
