//! What a runtime promises: to those who start, resume, cancel and delete instances, and to those who look after nodes.
//!
//! Time is moved by the tests, except where they say that it is the real one. Nothing here waits without a limit.
//!
//! On which store is decided by `LOCKWORK_STORE`: `memory`, `sqlite` or `postgres`. Without it they hold in memory, and
//! two facts of their own have this program run again on the others.

#![allow(
    clippy::unwrap_used,
    reason = "a test says what it expects by unwrapping it"
)]

mod elsewhere;
mod shaky;
mod support;

mod activation;
mod cancelling;
mod children;
mod clients;
mod definitions;
mod deleting;
mod drain;
mod errands;
mod expiring;
mod exporting;
mod http;
mod jobs;
mod keeping;
mod observers;
mod readiness;
#[cfg(unix)]
mod shell;
mod stimuli;
mod tasks;
mod timers;
