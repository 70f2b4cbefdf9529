//! A node, asked over its socket: who is let in, what is answered, and what it withstands.
#![expect(
    clippy::unwrap_used,
    reason = "a test that has not what it needs has failed"
)]

mod access;
mod away;
mod calling;
mod client;
mod described;
mod ending;
mod endpoint_doors;
mod endpoints;
mod enduring;
mod health;
mod looking_after;
mod operations;
mod pages;
mod place;
mod slow;
