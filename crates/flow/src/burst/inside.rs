//! Which executions are inside of which: asked for at each step, so nobody looks through all of them each time.

use super::Burst;
use crate::state::{Context, Number};
use std::collections::{BTreeMap, BTreeSet};

/// Those inside of each, by their numbers. Follows from the contexts in the state.
#[derive(Debug, Default)]
pub(super) struct Inside(BTreeMap<Number, BTreeSet<Number>>);

impl Inside {
    pub(super) fn of(contexts: &BTreeMap<Number, Context>) -> Self {
        let mut inside = Self::default();
        for (number, context) in contexts {
            inside.add(*number, context);
        }
        inside
    }

    fn add(&mut self, number: Number, context: &Context) {
        if let Some(owner) = context.owner {
            self.0.entry(owner).or_default().insert(number);
        }
    }

    fn remove(&mut self, number: Number, context: &Context) {
        let Some(owner) = context.owner else {
            return;
        };
        if let Some(all) = self.0.get_mut(&owner) {
            all.remove(&number);
            if all.is_empty() {
                self.0.remove(&owner);
            }
        }
    }
}

impl Burst {
    /// Those that `owner` has scheduled and that are not over, in this order.
    pub(super) fn inside(&self, owner: Number) -> impl ExactSizeIterator<Item = Number> {
        static NONE: BTreeSet<Number> = BTreeSet::new();
        self.inside.0.get(&owner).unwrap_or(&NONE).iter().copied()
    }

    /// An execution that is to begin.
    pub(super) fn enter(&mut self, context: Context) -> Number {
        let number = self.state.number();
        self.inside.add(number, &context);
        self.state.contexts.insert(number, context);
        number
    }

    /// An execution that is over.
    pub(super) fn leave(&mut self, number: Number) -> Option<Context> {
        let context = self.state.contexts.remove(&number)?;
        self.inside.remove(number, &context);
        Some(context)
    }
}
