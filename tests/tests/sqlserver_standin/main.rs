//! The stand-in for SQL Server, asked by a real client.

// What helps a test says what it expects as the test does.
#![allow(clippy::unwrap_used)]

mod babelfish;
mod calling;
mod cancelling;
mod codes;
mod connecting;
mod converting;
mod encrypting;
mod ending;
mod guest;
mod language;
mod mangled;
mod modes;
mod rights;
mod sequences;
mod tables;
mod talking;
mod transactions;
mod views;
mod waiting;
