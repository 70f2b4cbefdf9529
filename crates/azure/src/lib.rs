#![doc = include_str!("../README.md")]

mod backend;
mod blobs;
mod cache;
mod collect;
mod connection_string;
mod credential;
mod doctor;
mod driver;
mod errors;
mod holders;
mod identity;
mod mutex;
mod names;
mod options;
mod permits;
mod record;
mod refusal;
mod sas;
mod sequence;
mod server;
mod signing;
mod times;
mod transport;
mod turns;

pub use azure_core;
pub use azure_storage_blob;
pub use backend::{Azure, INFO};
pub use driver::DRIVER;
pub use identity::Identity;
pub use options::{Options, Tokens};
pub use server::{Lease, Server};
