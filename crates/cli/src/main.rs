//! The `lockwork` command.

fn main() {}
