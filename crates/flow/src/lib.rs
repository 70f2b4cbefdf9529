//! Workflows as values: definitions, activities, and the interpreter that runs them step by step.
//!
//! Most programs depend on the `lockwork` facade instead. This crate has no runtime, no clock and no source of
//! chance: whoever drives it says what time it is, and decides after each step whether there is another.

mod definition;

pub use definition::{
    Activation, Commit, Contents, Definition, FORMAT, Input, Length, Node, NotALength, Options,
    Parameter, Retry, Variable,
};
pub use lockwork_core::workflow::{Error, ErrorKind, Result};
