//! PostgreSQL where it hurts: servers that die, freeze, fill up and fall silent, processes that do,
//! and what it all costs. Each test has a server of its own.
#![cfg(target_os = "linux")]
// What helps a test says what it expects as the test does.
#![allow(clippy::unwrap_used, clippy::future_not_send)]

#[allow(
    dead_code,
    unreachable_pub,
    reason = "shared with the tests of file locks"
)]
#[path = "../file/contender.rs"]
mod contender;
mod dropping;
mod ending;
mod excluding;
mod filling;
mod formats;
mod holding;
mod killing;
mod losing;
mod sharing;
#[allow(
    dead_code,
    unreachable_pub,
    reason = "shared with the tests of file locks"
)]
#[path = "../file/stays.rs"]
mod stays;
mod transactions;
mod waiting;

use lockwork::{
    Locks,
    postgres::{Options, Postgres as Backend},
};
use lockwork_conformance::{Proxy, Taker, until, within};
use lockwork_servers::{Postgres, Settings};
use std::{path::Path, time::Duration};

/// Long enough for anything that ends at all.
const SOON: Duration = Duration::from_secs(20);

/// A server out of the box, but for these settings.
fn server(settings: &[(&str, &str)]) -> Postgres {
    let settings = settings
        .iter()
        .fold(Settings::new(), |all, (name, value)| all.set(name, value));
    Postgres::start(settings).unwrap()
}

/// How to use the database at `url`.
fn options(url: &str) -> Options {
    Backend::options(url.parse().unwrap())
}

/// A client that passes nothing on among its own tasks.
async fn client(url: &str) -> Locks {
    locks(options(url).connect().await.unwrap())
}

fn locks(backend: Backend) -> Locks {
    Locks::with_tenure(backend, Duration::ZERO)
}

/// The server as it is reached through `proxy`.
fn through(server: &Postgres, proxy: &Proxy) -> String {
    let url = server.url_at("127.0.0.1", proxy.port());
    format!("{url}?sslmode=disable")
}

/// Another process that takes locks.
async fn taker(url: &str) -> Taker {
    Taker::start(Path::new(env!("CARGO_BIN_EXE_taker")), url).await
}

/// How many advisory locks the server has, but for those that say who is there.
fn advisory_locks(server: &Postgres) -> usize {
    let text = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND objsubid = 1";
    server.sql(text).unwrap().trim().parse().unwrap()
}

/// How many sessions for locks there are.
fn sessions(server: &Postgres) -> usize {
    let text = "SELECT count(*) FROM pg_stat_activity WHERE application_name LIKE 'lockwork/%'";
    server.sql(text).unwrap().trim().parse().unwrap()
}

/// Whether somebody waits for something.
fn somebody_waits(server: &Postgres) -> bool {
    let text = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND objsubid = 1 \
                AND mode = 'ShareLock'";
    server.sql(text).unwrap().trim() != "0"
}
