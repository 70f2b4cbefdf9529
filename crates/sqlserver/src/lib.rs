#![doc = include_str!("../README.md")]

mod admin;
mod ado;
mod backend;
mod break_lock;
mod connect;
mod doctor;
mod driver;
mod errors;
mod holders;
mod keys;
mod open;
mod options;
mod schema;
mod session;
mod statement;
mod transaction;
mod wire;

pub use backend::{INFO, SqlServer};
pub use driver::DRIVER;
pub use keys::Key;
pub use lockwork_core::lock::Compat;
pub use options::Options;
/// The driver, for [`Options::new`] and [`lock_in`].
pub use tiberius;
pub use transaction::{lock_in, try_lock_in};
