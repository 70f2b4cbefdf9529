//! What goes wrong with Redis is said: by an error whose kind a program can act on, in a sentence
//! that says what to do, in time, and without the password.
//!
//! `cargo test -p lockwork-conformance --test redis_refusing -- --nocapture` prints the answers.
#![cfg(target_os = "linux")]
// What helps a test says what it expects as the test does.
#![allow(clippy::unwrap_used)]

mod asking;
mod busy;
#[path = "../postgres_refusing/canary.rs"]
mod canary;
mod certificates;
mod clusters;
mod entering;
mod foreign;
mod full;
mod mangled;
mod mangler;
mod options;
#[path = "../postgres_refusing/refusal.rs"]
mod refusal;
mod replicas;
mod rights;
mod sentinels;
mod silence;
mod strangers;
mod using;

use canary::CANARY;
use lockwork::Locks;
use lockwork_servers::{Redis, RedisSettings};
use std::sync::OnceLock;

/// A server that wants a password, for all tests that break nothing.
fn shared() -> &'static Redis {
    static SERVER: OnceLock<Redis> = OnceLock::new();
    SERVER.get_or_init(|| guarded(RedisSettings::new()))
}

/// A server with these settings where nobody may do anything but `admin`, who may do everything.
fn guarded(settings: RedisSettings) -> Redis {
    let admin = format!("user admin on >{CANARY} ~* &* +@all");
    Redis::start(settings.acl("user default off").acl(&admin)).unwrap()
}

/// The address of a server on this machine. The password is the one that must not be seen.
fn url(port: u16, user: &str) -> String {
    format!("redis://{user}:{CANARY}@127.0.0.1:{port}")
}

/// Connects to it as the administrator, with short leases.
async fn connect(port: u16) -> Locks {
    canary::listen();
    let url = format!("{}?lease=2s", url(port, "admin"));
    lockwork::connect(&url).await.unwrap()
}
