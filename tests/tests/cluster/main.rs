//! Three nodes, each a process, on one store in PostgreSQL, by each kind of locks: they are killed and frozen, their lock
//! server is restarted, emptied and cut off, and what is left must be what one undisturbed node leaves. And two, which are
//! told to end, or one of which is killed.
//!
//! `cargo xtask cluster --minutes 10` does it for longer.
#![cfg(target_os = "linux")]
// What helps a test says what it expects as the test does.
#![allow(clippy::unwrap_used, clippy::future_not_send)]

#[path = "../store_crash/left.rs"]
mod left;
#[path = "../store_crash/undisturbed.rs"]
mod undisturbed;

mod away;
mod faults;
mod forgetting;
mod leaving;
mod locks;
mod member;
mod run;
mod stuck;
mod takeover;

use locks::LockServer;
use run::Run;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nodes_with_locks_in_postgres_lose_nothing_and_do_nothing_twice() {
    Run::of(LockServer::postgres().await).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nodes_with_locks_in_redis_lose_nothing_and_do_nothing_twice() {
    Run::of(LockServer::redis().await).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nodes_with_locks_in_sqlserver_lose_nothing_and_do_nothing_twice() {
    Run::of(LockServer::sqlserver().await).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nodes_with_locks_in_azure_lose_nothing_and_do_nothing_twice() {
    Run::of(LockServer::azure().await).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nodes_with_locks_in_files_lose_nothing_and_do_nothing_twice() {
    Run::of(LockServer::file().await).await;
}

/// A number that somebody asks for, or the usual one.
fn asked(variable: &str, usual: u64) -> u64 {
    match std::env::var(variable) {
        Ok(text) => text.parse().expect("a number"),
        Err(_) => usual,
    }
}
