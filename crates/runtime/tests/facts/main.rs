//! What a runtime promises: to those who start, resume, cancel and delete instances, and to those who look after nodes.
//!
//! Time is moved by the tests, except where they say that it is the real one. Nothing here waits without a limit.

#![allow(
    clippy::unwrap_used,
    reason = "a test says what it expects by unwrapping it"
)]

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
mod exporting;
#[cfg(feature = "http")]
mod http;
mod jobs;
mod keeping;
mod observers;
#[cfg(all(unix, feature = "shell"))]
mod shell;
mod stimuli;
mod timers;
