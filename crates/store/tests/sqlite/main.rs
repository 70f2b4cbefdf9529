//! What the store in a file promises beyond what every store does.
#![cfg(feature = "sqlite")]
#![expect(
    clippy::unwrap_used,
    reason = "a test that has not what it needs has failed"
)]

mod alike;
mod damage;
mod doctor;
mod groups;
mod opening;
#[cfg(target_os = "linux")]
mod room;
mod support;
mod turns;
mod within;
