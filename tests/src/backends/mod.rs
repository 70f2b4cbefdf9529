//! How the suite reaches each backend.

pub mod memory;
pub mod standin;
