//! What helps around the command.

mod bench;
mod listing;
mod manual;
