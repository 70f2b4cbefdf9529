//! What goes wrong with SQL Server is said: by an error whose kind a program can act on, in a sentence
//! that says what to do, in time, and without the password.
//!
//! `cargo test -p lockwork-conformance --test sqlserver_refusing -- --nocapture` prints the answers.

// What helps a test says what it expects as the test does.
#![allow(clippy::unwrap_used)]

mod ado;
mod babelfish;
#[path = "../postgres_refusing/canary.rs"]
mod canary;
mod certificates;
mod command;
mod encrypting;
mod entering;
mod examining;
mod files;
mod mangled;
mod mangler;
mod options;
mod principals;
mod read_only;
#[path = "../postgres_refusing/refusal.rs"]
mod refusal;
mod rights;
mod seeing;
mod sequences;
mod strangers;
mod using;

use canary::CANARY;
use lockwork::{Error, Locks};
use lockwork_conformance::{
    backends::sqlserver::Server,
    sqlserver::{Settings, StandIn},
    within,
};
use std::{
    sync::OnceLock,
    time::{Duration, Instant},
};

/// What anything must happen within.
const SOON: Duration = Duration::from_secs(6);

/// A server for all tests that break nothing.
fn shared() -> &'static StandIn {
    static SERVER: OnceLock<StandIn> = OnceLock::new();
    SERVER.get_or_init(|| guarded(Settings::new()))
}

/// A server with these settings whose administrator has the password that must not be seen.
fn guarded(settings: Settings) -> StandIn {
    StandIn::start(settings.with_password(CANARY))
}

/// The address of a database for somebody, of a server whose certificate nobody knows.
fn url(server: &StandIn, user: &str, database: &str) -> String {
    at(server.address().port(), user, database)
}

/// The same by a port.
fn at(port: u16, user: &str, database: &str) -> String {
    format!("sqlserver://{user}:{CANARY}@127.0.0.1:{port}/{database}?trust=any")
}

/// Runs texts as the administrator.
fn run<const N: usize>(database: &str, texts: [&str; N]) {
    let server = Server::new(&url(shared(), "sa", "master")).unwrap();
    server.run(database, texts.map(str::to_owned)).unwrap();
}

/// A new database, of which we are the administrator.
fn database(name: &str) -> String {
    run("master", [&format!("CREATE DATABASE {name}")]);
    url(shared(), "sa", name)
}

/// A new database, and somebody who is a user of it and may do nothing else; both have the name.
fn somebody(name: &str) -> String {
    database(name);
    login(name);
    run(name, [&format!("CREATE USER {name} FOR LOGIN {name}")]);
    url(shared(), name, name)
}

/// Somebody who may come to the server, and into none of its databases but the system's.
fn login(name: &str) {
    let text = format!("CREATE LOGIN {name} WITH PASSWORD = '{CANARY}'");
    run("master", [&text]);
}

/// Connects where that must work.
async fn connect(url: &str) -> Locks {
    canary::listen();
    let connected = within(SOON, "a connection", lockwork::connect(url)).await;
    connected.unwrap()
}

/// Takes a lock and gives it back; its token.
async fn works(locks: &Locks) -> Option<u64> {
    let guard = within(SOON, "a lock", locks.mutex("works").lock()).await;
    let guard = guard.unwrap();
    let token = guard.token().map(lockwork::Token::get);
    within(SOON, "its end", guard.release()).await.unwrap();
    canary::is_not_in_the_log();
    token
}

/// The error of something that must fail soon, after it was looked at for the password.
async fn error_of<T>(asked: impl IntoFuture<Output = Result<T, Error>>) -> Error {
    let began = Instant::now();
    let answer = within(SOON, "an error", asked).await;
    let error = answer.err().expect("this must be refused");
    println!("{:?} after {:.1?}: {error}", error.kind(), began.elapsed());
    canary::is_not_in(&error);
    error
}
