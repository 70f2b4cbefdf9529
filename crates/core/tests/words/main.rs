//! The words of the contract: names, tokens, options, deadlines, errors, and who goes with whom.

#![allow(
    clippy::unwrap_used,
    reason = "a test says what it expects by unwrapping it"
)]

#[path = "../common/mod.rs"]
mod common;

mod errors;
mod modes;
mod names;
mod tokens;
mod urls;
mod waits;

use lockwork_core::lock::{Mode, Name};
use std::num::NonZeroU32;

fn name(text: &str) -> Name {
    Name::new(text).unwrap()
}

fn permit(of: u32) -> Mode {
    Mode::Permit {
        of: NonZeroU32::new(of).unwrap(),
    }
}
