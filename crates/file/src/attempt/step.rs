//! A file that is locked on the way and kept for the next try.

use crate::locked::{Locked, Target};

#[derive(Debug)]
pub(super) struct Step {
    target: Target,
    taken: Option<Locked>,
}

impl Step {
    pub(super) const fn new(target: Target) -> Self {
        Self {
            target,
            taken: None,
        }
    }

    pub(super) const fn is_taken(&self) -> bool {
        self.taken.is_some()
    }

    pub(super) fn target(&mut self) -> &mut Target {
        &mut self.target
    }

    pub(super) fn keep(&mut self, locked: Locked) {
        self.taken = Some(locked);
    }

    pub(super) fn take(&mut self) -> Option<Locked> {
        self.taken.take()
    }
}
