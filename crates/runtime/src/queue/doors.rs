//! Who may look for errands: on one node always that one, on many one at a time for each part.

use super::Processor;
use crate::store::{Held, Parts};
use lockwork_core::workflow::{Answer, Result};
use std::{any::Any, fmt, future::ready};

/// Says where a node may look for errands. For speed alone: what two nodes find, one of them is handed.
pub trait Doors: fmt::Debug + Send + Sync {
    /// Where this node may look now. Asks for nothing that takes long: a part in which somebody else looks is left out.
    fn enter(&self) -> Answer<'_, Entered>;
}

/// Where a node may look, until it is dropped.
#[derive(Debug)]
pub struct Entered {
    parts: Parts,
    is_all: bool,
    _until_dropped: Box<dyn Any + Send>,
}

impl Entered {
    /// In these parts, for as long as `until_dropped` is there.
    pub fn new(parts: Parts, until_dropped: impl Any + Send) -> Self {
        let is_all = parts.numbers().len() >= usize::try_from(parts.of()).unwrap_or(usize::MAX);
        Self {
            parts,
            is_all,
            _until_dropped: Box::new(until_dropped),
        }
    }
}

/// Nobody else looks.
#[derive(Debug)]
pub(crate) struct OpenDoors;

impl Doors for OpenDoors {
    fn enter(&self) -> Answer<'_, Entered> {
        Box::pin(ready(Ok(Entered::new(Parts::all(), ()))))
    }
}

/// What was found.
#[derive(Debug)]
pub(crate) struct Found {
    pub(crate) errands: Vec<Held>,
    /// Whether there may be more where others look: whoever adds something tells its own node, and that one may have been
    /// turned away. So somebody has to look again, soon.
    pub(crate) skipped: bool,
}

impl Processor {
    /// Looks for errands where nobody else does.
    pub(crate) async fn find(&self, limit: usize) -> Result<Found> {
        let runner = &self.runner;
        if limit == 0 {
            let (errands, skipped) = (Vec::new(), false);
            return Ok(Found { errands, skipped });
        }
        let entered = runner.doors.enter().await?;
        let skipped = !entered.is_all;
        let (now, until) = (runner.clock.now(), runner.held_until());
        let errands = match entered.parts.numbers() {
            [] => Vec::new(),
            _ => {
                let parts = entered.parts.clone();
                runner.store.take_from(parts, now, until, limit).await?
            }
        };
        Ok(Found { errands, skipped })
    }
}
