//! A stand-in for Microsoft SQL Server, written from Microsoft's documents, not SQL Server: from
//! MS-TDS (the protocol), the pages of `sp_getapplock`, `sp_releaseapplock`, `APPLOCK_MODE`,
//! `APPLOCK_TEST`, `sys.dm_tran_locks` and of the statements it knows, and the list of errors.
//!
//! It answers one question: does a client of SQL Server's application locks do the right thing over
//! a real socket, when it has to wait, is cut off, cancels, is refused or killed? It speaks TDS 7.4
//! and 8.0 (`wire`), keeps a table of locks with lines of waiters (`locks`), and runs a part of
//! T-SQL (`sql`, `session`) on databases, sequences, logins, users and rights (`state`).
//!
//! What it lacks is a syntax error, or the error that SQL Server has for it. What it has otherwise:
//! a rollback frees the locks of a transaction and undoes nothing else; a deadlock is found at once;
//! there is no MARS, no bulk load, no cursor, and no login but by a password.

mod connection;
mod locks;
mod process;
mod server;
mod session;
mod settings;
mod sql;
mod start;
mod state;
mod tls;
mod wire;

pub(crate) use server::Server;

pub use process::StandInProcess;
pub use settings::{Encryption, Flavor, Settings};
pub use start::StandIn;
