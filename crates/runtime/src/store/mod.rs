//! Where everything is written down, and who judges what counts.
//!
//! # The contract
//!
//! **Claim before read.** Whoever works on an instance first [claims](InstanceStore::claim) it, which raises its
//! epoch and gives its state in one go. A [commit](InstanceStore::commit) counts only with the epoch, the claim and the
//! version it was given; everything in it is written, or nothing. So whoever was replaced can change nothing, whatever
//! it believes.
//!
//! **What has to be done is written with what asked for it.** A commit carries [errands](Errand): things to be delivered,
//! started or called off. An errand is done when the commit that did it has taken it away; until then anybody may be
//! handed it again.
//!
//! **Stimuli and bookmarks meet inside of the store.** A stimulus becomes errands for those who wait for it, or
//! waits itself; a commit that adds a bookmark gives it to the oldest that waits for it.

pub mod derived;
mod errand;
mod instance;
mod memory;
mod nodes;
mod records;

pub use errand::{Errand, ErrandId, ErrandKind, ErrandStore, Held, Parts, Release, Rung};
pub use instance::{Claim, Claimed, Commit, Committed, Creation, InstanceStore, NewInstance};
pub use memory::MemoryStore;
pub use nodes::{NodeRow, NodeStore};
pub use records::{
    DeadLetter, DefinitionStore, Filter, JobStore, Letter, NewJob, NewVersion, Position, Reason,
    Record, Sending, Sent, StimulusStore, TakenJob, Timer, TimerKind, TriggerRow, VersionRow,
    WaitingStimulus, is_for,
};

use std::fmt;

/// A place where everything is written down.
pub trait Store:
    InstanceStore
    + ErrandStore
    + StimulusStore
    + DefinitionStore
    + JobStore
    + NodeStore
    + fmt::Debug
    + Send
    + Sync
{
}

impl<S> Store for S where
    S: InstanceStore
        + ErrandStore
        + StimulusStore
        + DefinitionStore
        + JobStore
        + NodeStore
        + fmt::Debug
        + Send
        + Sync
{
}
