//! Stores where it hurts: nodes that are killed, nodes without locks, connections that are cut, servers and disks that go
//! away, and what a store costs after a million bookmarks.
#![cfg(target_os = "linux")]
// What helps a test says what it expects as the test does.
#![allow(clippy::unwrap_used, clippy::future_not_send)]

mod away;
#[path = "../store_postgres/backends.rs"]
mod backends;
mod counters;
mod crashing;
mod cutting;
mod forgetting;
mod growing;
mod left;
mod place;
mod racing;
mod undisturbed;

/// A number that somebody asks for, or the usual one.
fn asked(variable: &str, usual: u64) -> u64 {
    match std::env::var(variable) {
        Ok(text) => text.parse().expect("a number"),
        Err(_) => usual,
    }
}
