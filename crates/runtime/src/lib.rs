#![doc = include_str!("../README.md")]
//! # Where to look
//!
//! | for | see |
//! |---|---|
//! | putting a runtime together | [`RuntimeBuilder`], [`Options`] |
//! | publishing, sending, draining | [`LocalRuntime`] |
//! | what can be asked of an instance | [`Client`](lockwork_core::workflow::Client) |
//! | testing without waiting | [`Driver`], [`VirtualClock`] |
//! | writing a store | [`store`] |
//! | what many nodes agree on | [`Cluster`] |

mod activation;
mod book;
mod builder;
mod bursts;
mod client;
mod clock;
mod cluster;
mod contention;
mod definitions;
mod driver;
mod events;
mod hands;
mod host;
mod ids;
mod jobs;
mod node;
mod options;
mod queue;
mod refresher;
mod reloader;
mod resumer;
mod runner;
mod runtime;
mod sender;
mod spans;
pub mod store;
mod turns;

pub use builder::RuntimeBuilder;
pub use client::LocalClient;
pub use clock::{Clock, Sleep, SystemClock, VirtualClock};
pub use cluster::Cluster;
pub use definitions::Definitions;
pub use driver::Driver;
pub use events::Event;
pub use host::{Draining, Host};
pub use jobs::JobCall;
pub use lockwork_core::workflow::{Error, ErrorKind, Result};
pub use node::Readiness;
pub use options::Options;
pub use queue::{BookmarkQueuePurger, DeadLetters, Doors, Entered};
pub use refresher::{DefinitionsRefresher, RefreshStatus, Refreshed};
pub use reloader::{DefinitionProvider, DefinitionsReloader, Reloaded};
pub use resumer::WorkflowResumer;
pub use runtime::{Drained, LocalRuntime};
pub use sender::{Reached, StimulusSender, Told};
pub use store::{MemoryStore, Store};
pub use turns::{Turn, Turns};
