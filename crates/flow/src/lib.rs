#![doc = include_str!("../README.md")]
//! # Where to look
//!
//! | for | see |
//! |---|---|
//! | writing a definition in Rust | [`build`] |
//! | reading and writing one as JSON | [`Definition`] |
//! | functions and activities of one's own | [`Registry`], [`Activity`] |
//! | running an instance, step by step | [`Graph`], [`State`], [`Burst`] |
//! | a schema for editors | [`schema`](schema()) |

mod activities;
mod activity;
mod around;
pub mod build;
mod burst;
mod cron;
mod definition;
mod effect;
mod endpoint;
mod expression;
mod graph;
mod journal;
mod moment;
mod outside;
mod registry;
mod schema;
mod signal;
mod state;

pub use activities::{Coded, EVENT, TASK, delivered};
pub use activity::{
    Activity, Child, Contains, Descriptor, Doing, Given, Schedule, Step, Trigger, Wrong, done,
    ready,
};
pub use around::{Around, Calling};
pub use burst::{
    Burst, Cx, HIDDEN, MAX_STEPS, Progress, Waiting, Written, check_input, ended, never_began,
    shown,
};
pub use cron::Cron;
pub use definition::{
    Activation, Commit, Contents, Definition, FORMAT, Input, Length, Node, NotALength, Options,
    Parameter, Retry, Variable,
};
pub use effect::{Effect, Job, Task};
pub use endpoint::{Endpoint, HTTP, RESPONSE, Route, is_step};
pub use graph::{Graph, Starts};
pub use journal::{Entry, Happened};
pub use lockwork_core::workflow::{Error, ErrorKind, Result};
pub use outside::{Outside, Told};
pub use registry::Registry;
pub use schema::schema;
pub use signal::{Answer, Signal};
pub use state::{Context, Number, STATE_FORMAT, State, Triggered, Work};
