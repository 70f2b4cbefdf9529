#![doc = include_str!("../README.md")]

mod connect;
mod doctor;
mod json;
#[cfg(feature = "postgres")]
pub mod postgres;
#[cfg(feature = "sqlite")]
pub mod sqlite;

pub use connect::connect;
pub use doctor::doctor;
