//! What workflows do, from the outside: definitions go in as JSON, and state, journal and effects come out.

// A test says what it expects by unwrapping it, in its helpers too.
#![allow(clippy::unwrap_used)]

mod support;

mod beginning;
mod branches;
mod cancelling;
mod chance;
mod children;
mod data;
mod flowcharts;
mod forks;
mod incidents;
mod limits;
mod loops;
mod losing;
mod mistakes;
mod requests;
mod retrying;
mod secrets;
mod timers;
mod trying;
mod waiting;
