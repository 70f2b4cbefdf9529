//! PostgreSQL servers.

pub mod setup;
