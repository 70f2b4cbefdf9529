#![doc = include_str!("../README.md")]

mod about;
mod backend;
mod carrier;
mod doctor;
mod driver;
mod errors;
mod holders;
mod inbox;
mod keys;
mod options;
mod owners;
mod plan;
mod quorum;
mod scan;
mod server;
mod things;
mod wire;

pub use backend::{INFO, Redis};
pub use driver::DRIVER;
pub use lockwork_core::lock::Compat;
pub use options::Options;
pub use quorum::{Everywhere, Majority, QUORUM_INFO, RedisQuorum};
pub use {server::Server, things::Lease};
