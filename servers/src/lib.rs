//! Real servers for tests, as plain processes: where their programs are, as
//! whom they may run, how they are set up, started, found again and ended.
//!
//! `cargo xtask up` runs servers that stay, one of each. A test that kills,
//! freezes or fills its server starts one of its own, which ends with the
//! test: [`Postgres`], [`PgBouncer`], [`Redis`], [`RedisCluster`],
//! [`Sentinel`] and [`Azurite`], and [`Namespace`] for clients that vanish. What
//! both need is written once, below them. Nothing here knows lockwork.
#![cfg(unix)]

pub mod account;
pub mod azurite;
mod freezing;
pub mod health;
mod home;
pub mod login;
mod namespace;
pub mod pgbouncer;
pub mod port;
pub mod postgres;
mod problem;
pub mod process;
pub mod programs;
pub mod redis;
pub mod run;
pub mod server;
pub mod site;

pub use azurite::Azurite;
pub use namespace::Namespace;
pub use pgbouncer::{PgBouncer, PoolMode};
pub use postgres::{Postgres, Settings};
pub use problem::{Outcome, Problem};
pub use redis::{Clock, Redis, RedisCluster, RedisSettings, Sentinel};
