#![doc = include_str!("../README.md")]
//! # Where to look
//!
//! | for | see |
//! |---|---|
//! | turning it on | [`Distributed`], [`DistributedOptions`] |
//! | which request takes which lock | [`DistributedClient`] |
//! | who looks for errands | [`DistributedBookmarkQueueWorker`] |
//! | putting only a part of it into a runtime | [`LockCluster`] |

mod client;
mod cluster;
mod error;
mod options;
mod presence;
mod refresher;
mod releases;
mod reloader;
mod runtime;
mod scope;
mod self_test;
mod turns;
mod worker;

pub use client::DistributedClient;
pub use cluster::LockCluster;
pub use options::DistributedOptions;
pub use refresher::DistributedDefinitionsRefresher;
pub use reloader::DistributedDefinitionsReloader;
pub use runtime::{Distributed, DistributedRuntime};
pub use worker::DistributedBookmarkQueueWorker;
