//! The store in PostgreSQL where it hurts: servers that crash, go away and refuse, nodes that start at once, rows that are
//! damaged, transactions of the caller's own. Each test has a server of its own.
#![cfg(target_os = "linux")]
// What helps a test says what it expects as the test does.
#![allow(clippy::unwrap_used, clippy::future_not_send)]

mod backends;
mod damage;
mod diagnosing;
mod dropping;
mod killing;
mod leaving;
mod making;
mod meeting;
mod refusing;
mod ringing;
mod sharing;
#[allow(
    dead_code,
    unused_imports,
    unused_macros,
    reason = "shared with the suite of stores"
)]
#[path = "../store/support.rs"]
mod support;
mod transactions;

use lockwork::store::postgres::PostgresStore;
use lockwork_servers::{Postgres, Settings};
use std::time::Duration;

/// Long enough for anything that ends at all.
const SOON: Duration = Duration::from_secs(30);

/// A server out of the box, but for these settings.
fn server(settings: &[(&str, &str)]) -> Postgres {
    let settings = settings
        .iter()
        .fold(Settings::new(), |all, (name, value)| all.set(name, value));
    Postgres::start(settings).unwrap()
}

/// A node's own way to the store there.
async fn node(server: &Postgres) -> PostgresStore {
    PostgresStore::connect(&format!("{}?pool=8", server.url()))
        .await
        .unwrap()
}
