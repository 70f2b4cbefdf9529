//! What has to be done, and stimuli for which nobody waits yet.

mod dead_letters;
mod doors;
mod processor;
mod purger;
mod signal;
mod worker;

pub use dead_letters::DeadLetters;
pub(crate) use doors::OpenDoors;
pub use doors::{Doors, Entered};
pub(crate) use processor::{Did, Processor};
pub use purger::BookmarkQueuePurger;
pub(crate) use signal::Signal;
pub(crate) use worker::Worker;
