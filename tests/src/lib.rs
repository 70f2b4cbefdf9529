//! What it means to be a lockwork backend: one list of cases, run against every one of them.
//!
//! To run it on a backend of your own, write a [`Harness`] for it and give that to [`trials`]:
//!
//! ```no_run
//! use lockwork_conformance::{Site, backends::memory, trials};
//!
//! let taker = "target/debug/taker".into(); // the binary of this package
//! let args = libtest_mimic::Arguments::from_args();
//! libtest_mimic::run(&args, trials(&[Site::new("memory", memory::start)], taker)).exit();
//! ```
//!
//! A backend that cannot be reached shows as ignored, with the reason in the trial's name. Name it
//! in `LOCKWORK_REQUIRE` (a list with commas) and that is a failure. No case can hang: each has a
//! limit of its own, kept by a thread that does nothing else.

// A case says what it expects by unwrapping it; its futures stay on the thread that made them.
#![allow(clippy::unwrap_used, clippy::future_not_send)]

pub mod backends;
pub mod cases;
mod certificates;
mod context;
mod harness;
mod history;
mod polling;
mod process;
pub mod proxy;
mod room;
mod run;
pub mod sqlserver;
mod stalls;
pub mod standin;
mod stores;
pub mod strangers;
mod view;
mod wakeups;
pub mod workflows;

pub use certificates::{Certificates, Identity};
pub use context::{Context, until, within};
pub use harness::{BoxFuture, Harness, Promise, Residue, Site, Started};
pub use history::History;
pub use polling::{drop_many, poll_at_most};
pub use process::Taker;
pub use proxy::Proxy;
pub use run::{absent, at_once, trial, trials};
pub use stalls::Stalls;
pub use stores::{StoreKind, StorePlace};
pub use view::{Held, View};
pub use wakeups::{generous, wakeup_delay};
