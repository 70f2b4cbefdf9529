//! Who shares the store, and what they agree on.

use lockwork_core::workflow::{Answer, InstanceId, Time};

/// A node, as it says of itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeRow {
    /// What it is called. No other node that runs is.
    pub name: String,
    /// When it began.
    pub since: Time,
    /// When it said so.
    pub beat: Time,
    /// It is dead if nothing more is heard of it until then. One that has ended says that it is over now.
    pub until: Time,
    /// How many bursts it runs.
    pub bursts: u32,
    /// Of which instances they are, of some of them.
    pub running: Vec<InstanceId>,
}

/// Keeps what nodes know of each other. Nothing that counts rests on it.
pub trait NodeStore {
    /// A node lives. What it said before is forgotten.
    fn beat(&self, node: NodeRow) -> Answer<'_, ()>;

    /// All that are known, by name.
    fn nodes(&self) -> Answer<'_, Vec<NodeRow>>;

    /// Forgets those that were dead before `before`. Says how many.
    fn forget_nodes(&self, before: Time) -> Answer<'_, usize>;

    /// Into how many [parts](super::Parts) all errands are divided: `first`, unless somebody has said otherwise before.
    fn parts(&self, first: u32) -> Answer<'_, u32>;

    /// Those of `instances` whose end somebody [wants](super::InstanceStore::request_cancel) and that are not over.
    fn to_be_ended<'a>(&'a self, instances: &'a [InstanceId]) -> Answer<'a, Vec<InstanceId>>;
}
