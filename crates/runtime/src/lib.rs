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

mod activation;
mod builder;
mod bursts;
mod client;
mod clock;
mod definitions;
mod driver;
mod events;
mod hands;
mod ids;
mod jobs;
mod options;
mod queue;
mod refresher;
mod reloader;
mod resumer;
mod runner;
mod runtime;
mod sender;
pub mod store;
mod turns;

pub use builder::RuntimeBuilder;
pub use client::LocalClient;
pub use clock::{Clock, Sleep, SystemClock, VirtualClock};
pub use definitions::Definitions;
pub use driver::Driver;
pub use events::Event;
pub use jobs::JobCall;
pub use lockwork_core::workflow::{Error, ErrorKind, Result};
pub use options::Options;
pub use queue::{BookmarkQueuePurger, DeadLetters};
pub use refresher::{DefinitionsRefresher, RefreshStatus, Refreshed};
pub use reloader::{DefinitionProvider, DefinitionsReloader, Reloaded};
pub use resumer::WorkflowResumer;
pub use runtime::{Drained, LocalRuntime};
pub use sender::{Reached, StimulusSender};
pub use store::{MemoryStore, Store};
pub use turns::{Turn, Turns};
