//! Workflows for nodes that are killed: what they do, who tells them what, and what must be left of it.
//!
//! Every instance waits for one thing at a time, so that its journal is the same however nodes, signals and timers are
//! interleaved. Every order to a node has a key, so that giving it again is giving it once.

mod definitions;
mod journal;
mod node;
mod obeying;
mod orders;
mod staying;
mod watching;

pub use definitions::{definitions, jobs, registry};
pub use journal::{Journals, difference, journals, uninterrupted};
pub use node::{Answer, Node};
pub use obeying::Orders;
pub use orders::{Order, Plan};
pub use staying::{stay, staying};
pub use watching::{asked, watched};
