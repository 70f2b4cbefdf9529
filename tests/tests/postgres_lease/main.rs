//! PostgreSQL with `mode=lease`: what its own table, functions and connections must bear.
//!
//! Needs the server that `LOCKWORK_POSTGRES_URL` names; `cargo xtask test` starts one.

#![allow(clippy::unwrap_used)]

#[allow(
    dead_code,
    unreachable_pub,
    reason = "shared with the tests of file locks"
)]
#[path = "../file/contender.rs"]
mod contender;
mod excluding;
mod expiring;
mod installing;
mod losing_replies;
#[allow(
    dead_code,
    unreachable_pub,
    reason = "shared with the tests of file locks"
)]
#[path = "../file/stays.rs"]
mod stays;

use lockwork::{Deadline, Mode, Name, Request, postgres::PostgresLeases};
use lockwork_conformance::backends::postgres_lease::Database;
use std::time::Duration;

/// How many rows there are of any kind.
const ROWS: &str = "SELECT count(*) FROM lockwork.lease";

/// An empty database.
fn database() -> Database {
    database_through("LOCKWORK_POSTGRES_URL")
}

/// The same, reached through what `variable` names.
fn database_through(variable: &str) -> Database {
    Database::new(variable).unwrap_or_else(|why| panic!("{why}"))
}

/// A node with leases of `lease`.
async fn node(database: &Database, lease: Duration) -> PostgresLeases {
    let options = lockwork::postgres::Options::new(database.through()).lease(lease);
    options.connect_leases().await.expect("it connects")
}

/// A try for the mutex `name`, by a new owner.
fn request(name: &str) -> Request {
    let name = Name::new(name).expect("a name");
    Request::new(name, Mode::Exclusive, Deadline::Now)
}

const LONG: Duration = Duration::from_secs(30);
