//! One after another.

use crate::{
    activity::{Activity, Child, Contains, Descriptor, Doing, Step, ready},
    burst::Cx,
};
use lockwork_core::workflow::Failure;

/// One after another.
#[derive(Debug)]
pub(super) struct Sequence;

impl Activity for Sequence {
    fn describe(&self) -> Descriptor {
        Descriptor::new("Sequence", "Runs activities one after another.").contains(Contains::List)
    }

    fn execute<'a>(&'a self, cx: &'a mut Cx<'_>) -> Doing<'a> {
        ready(next(cx, 0))
    }

    fn child_done<'a>(&'a self, cx: &'a mut Cx<'_>, child: &'a Child) -> Doing<'a> {
        ready(next(cx, child.index + 1))
    }
}

fn next(cx: &mut Cx<'_>, index: usize) -> Result<Step, Failure> {
    if index >= cx.children().count() {
        return Ok(Step::done());
    }
    cx.schedule(index);
    Ok(Step::Wait)
}
