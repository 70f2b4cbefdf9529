#![doc = include_str!("../README.md")]

mod admin;
mod backend;
mod break_lock;
mod doctor;
mod driver;
mod errors;
mod holders;
mod keys;
mod lease;
mod open;
mod options;
mod pooler;
mod presence;
mod rows;
mod schema;
mod session;
mod settings;
mod statement;
mod text;
mod tls;
mod transaction;

pub use backend::{INFO, Postgres};
pub use driver::DRIVER;
pub use keys::Key;
pub use lease::{Lease, LeaseTable, PostgresLeases};
pub use lockwork_core::lock::Compat;
pub use options::Options;
pub use transaction::{lock_in, try_lock_in};
