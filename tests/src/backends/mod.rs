//! How the suite reaches each backend.

pub mod azure;
pub mod file;
pub mod layered;
pub mod memory;
pub mod postgres;
pub mod postgres_lease;
pub mod redis;
pub mod redis_medallion;
pub mod sqlserver;
pub mod standin;
