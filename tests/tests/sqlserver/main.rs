//! SQL Server where it hurts: sessions that are ended, networks that are cut, servers that stand still
//! and are killed, processes that are, and what it all costs.
//!
//! No case knows what it talks to, but those that stop or kill the server: these start a stand-in of
//! their own. A server that `LOCKWORK_SQLSERVER_URL` names must be on this machine, since some cases
//! put a proxy in front of it, and must let in clients without encryption, since some count what they
//! send.
#![cfg(target_os = "linux")]
// What helps a test says what it expects as the test does.
#![allow(clippy::unwrap_used, clippy::future_not_send)]

mod batching;
mod codes;
mod cutting;
mod dropping;
mod ending;
mod guest;
mod holding;
mod killing;
mod lining_up;
mod mangler;
mod naming;
mod place;
mod restarting;
mod runtimes;
mod sharing;
mod standing_still;
mod transactions;

use lockwork::{Guard, Locks};
use lockwork_conformance::{Taker, generous, until, within};
use std::{
    path::Path,
    time::{Duration, Instant},
};
use tokio::task::JoinHandle;

/// Long enough for anything that ends at all.
const SOON: Duration = Duration::from_secs(20);

/// So soon whatever is told is known.
const AT_ONCE: Duration = Duration::from_millis(250);

/// Short enough to see it end.
const LEASE: Duration = Duration::from_secs(2);

/// Begins to wait for the mutex.
fn wait_for(locks: &Locks, name: &str) -> JoinHandle<(Guard, Instant)> {
    let mutex = locks.mutex(name);
    tokio::spawn(async move { (mutex.lock().await.unwrap(), Instant::now()) })
}

/// Takes the mutex and gives it back.
async fn works(locks: &Locks, name: &str) {
    let guard = within(SOON, "a lock", locks.mutex(name).lock()).await;
    guard.unwrap().release().await.unwrap();
}

/// The lock, however long the server takes to come back.
async fn take(locks: &Locks, name: &str) -> Guard {
    let taking = async {
        loop {
            match locks.mutex(name).lock().await {
                Ok(guard) => return guard,
                Err(error) => assert!(error.is_transient(), "{error}"),
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    within(SOON, "a lock", taking).await
}

/// Another process that takes locks.
async fn taker(url: &str) -> Taker {
    Taker::start(Path::new(env!("CARGO_BIN_EXE_taker")), url).await
}
