//! Who shares the store, in memory.

use super::MemoryStore;
use crate::store::{NodeRow, NodeStore};
use lockwork_core::workflow::{Answer, InstanceId, Time};
use std::collections::BTreeMap;

#[derive(Debug, Default)]
pub(super) struct Nodes {
    rows: BTreeMap<String, NodeRow>,
    parts: Option<u32>,
}

impl NodeStore for MemoryStore {
    fn beat(&self, node: NodeRow) -> Answer<'_, ()> {
        self.answer(|inner| {
            inner.nodes.rows.insert(node.name.clone(), node);
            Ok(())
        })
    }

    fn nodes(&self) -> Answer<'_, Vec<NodeRow>> {
        self.answer(|inner| Ok(inner.nodes.rows.values().cloned().collect()))
    }

    fn forget_nodes(&self, before: Time) -> Answer<'_, usize> {
        self.answer(|inner| {
            let known = inner.nodes.rows.len();
            inner.nodes.rows.retain(|_, node| node.until >= before);
            Ok(known - inner.nodes.rows.len())
        })
    }

    fn parts(&self, first: u32) -> Answer<'_, u32> {
        self.answer(|inner| Ok(*inner.nodes.parts.get_or_insert(first.max(1))))
    }

    fn to_be_ended<'a>(&'a self, instances: &'a [InstanceId]) -> Answer<'a, Vec<InstanceId>> {
        self.answer(|inner| {
            let wanted = instances.iter().filter(|id| {
                let row = inner.instances.rows.get(*id);
                row.is_some_and(|row| row.cancel)
            });
            Ok(wanted.cloned().collect())
        })
    }
}
