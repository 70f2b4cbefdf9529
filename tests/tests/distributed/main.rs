//! What a runtime on many nodes promises beyond one on one node: which request takes which lock, under which name, for how
//! long it is waited for, and what happens when the lock server or another node misbehaves.
//!
//! Nodes are in this process and share a store in memory; each has locks of its own on one place, so that it is that place
//! that keeps them apart and not the line inside of a process.

#![allow(
    clippy::unwrap_used,
    reason = "a test says what it expects by unwrapping it"
)]

#[path = "../runtime/support.rs"]
#[allow(dead_code, reason = "the facts of the local runtime use the rest")]
mod support;

mod cancelling;
mod clients;
mod contention;
mod definitions;
mod ending;
mod losing;
mod nodes;
mod place;
mod queue;
mod racing;
mod releasing;
mod retrying;
mod scope;
mod sharing;
mod skew;
mod told;
mod waiting;
