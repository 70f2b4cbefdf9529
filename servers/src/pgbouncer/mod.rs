//! PgBouncer.

pub mod setup;
