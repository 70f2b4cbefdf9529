//! Layers: what each does, what none may hide, and what is left when a request through one is
//! dropped half way.

#![allow(
    clippy::unwrap_used,
    reason = "a test says what it expects by unwrapping it"
)]

#[path = "../common/mod.rs"]
mod common;

mod chaos;
mod forwarding;
mod log;
#[cfg(feature = "metrics")]
mod metrics;
mod moody;
mod prefix;
mod retry;
mod trace;
