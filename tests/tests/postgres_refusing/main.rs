//! What goes wrong when connecting to PostgreSQL is said: by an error whose kind a program can act
//! on, in a sentence that says what to do, in time, and without the password.
//!
//! `cargo test -p lockwork-conformance --test postgres_refusing -- --nocapture` prints the answers.
#![cfg(target_os = "linux")]
// What helps a test says what it expects as the test does.
#![allow(clippy::unwrap_used)]

mod canary;
mod certificates;
mod entering;
mod full;
mod options;
mod pooler;
mod refusal;
mod rights;
mod schema;
mod sequence;
mod standby;
mod strangers;
mod using;

use canary::CANARY;
use lockwork_servers::{Postgres, Settings};
use std::sync::OnceLock;

/// A server that wants a password, for all tests that break nothing.
fn shared() -> &'static Postgres {
    static SERVER: OnceLock<Postgres> = OnceLock::new();
    SERVER.get_or_init(|| {
        let server = Postgres::start(Settings::new().password()).unwrap();
        let role = format!("CREATE ROLE admin SUPERUSER LOGIN PASSWORD '{CANARY}'");
        server.sql(&role).unwrap();
        server
    })
}

/// A new database, and a new role that may connect and nothing else; both have the name.
fn somebody(name: &str) -> String {
    let server = shared();
    let role = format!("CREATE ROLE {name} LOGIN PASSWORD '{CANARY}'");
    server.sql(&role).unwrap();
    server.sql(&format!("CREATE DATABASE {name}")).unwrap();
    url(server.port(), name, name)
}

/// A new database, of which we are the administrator.
fn database(name: &str) -> String {
    shared().sql(&format!("CREATE DATABASE {name}")).unwrap();
    url(shared().port(), "admin", name)
}

/// The address of a server on this machine. The password is the one that must not be seen.
fn url(port: u16, user: &str, database: &str) -> String {
    format!("postgres://{user}:{CANARY}@127.0.0.1:{port}/{database}")
}
