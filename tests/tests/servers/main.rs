//! Do the servers that tests start for themselves behave as promised? A test that kills a server
//! which does not die proves nothing.
#![cfg(target_os = "linux")]
// What helps a test says what it expects as the test does.
#![allow(clippy::unwrap_used)]

mod azurite;
mod bouncer;
mod ending;
mod postgres;
mod proxy;
mod redis;
mod tls;

use lockwork_servers::{Postgres, Settings};
use std::time::{Duration, Instant};

/// A server out of the box.
fn server() -> Postgres {
    Postgres::start(Settings::new()).unwrap()
}

/// Waits until it is so, for 10 s at most.
fn eventually(what: &str, mut is_so: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(10);
    while !is_so() {
        assert!(Instant::now() < deadline, "not within 10 s: {what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}
