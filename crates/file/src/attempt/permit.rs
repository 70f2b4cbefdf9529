//! One of a semaphore's permits: the first of its numbered files that is free.

use super::{Aim, step::Step};
use crate::{
    locked::{How, Locked, Target},
    names::Names,
    place::Opened,
    stamp,
    sys::Access,
};
use lockwork_core::lock::{LossSignal, Result};

#[derive(Debug)]
pub(super) struct Permit {
    names: Names,
    of: u32,
    gate: Step,
}

impl Permit {
    pub(super) fn new(names: &Names, of: u32) -> Self {
        Self {
            names: names.clone(),
            of,
            gate: Step::new(Target::new(names.gate(), Access::Write)),
        }
    }

    /// The file whose closing says that a permit came back, or that the gate was opened.
    pub(super) fn gate(&mut self) -> &mut Target {
        self.gate.target()
    }

    /// One try: the permit, and a bell that rings when it is given back. Who waits shuts the gate
    /// and keeps it shut, so that newcomers do not get in before; who does not only passes.
    pub(super) fn attempt(
        &mut self,
        aim: &Aim,
        signal: &LossSignal,
        waiting: bool,
    ) -> Result<Option<(Locked, Opened)>> {
        if !self.gate.is_taken() {
            let how = if waiting { How::Alone } else { How::WithOthers };
            let Some(locked) = self.gate.target().try_lock(&aim.place, how, None)? else {
                return Ok(None);
            };
            self.gate.keep(locked);
        }
        let Some(permit) = self.first_free(aim, signal)? else {
            if !waiting {
                drop(self.gate.take());
            }
            return Ok(None);
        };
        let page = stamp::read(permit.opened())?;
        // Taken away meanwhile, it is lost as it would be later: it has no number to be had twice.
        let _ = stamp::write(&aim.place, &permit, &page, aim.who)?;
        let bell = aim.place.open_file(&self.names.gate(), Access::Write)?;
        // Closing it tells the next who waits for the gate.
        drop(self.gate.take());
        Ok(Some((permit, bell)))
    }

    fn first_free(&self, aim: &Aim, signal: &LossSignal) -> Result<Option<Locked>> {
        for number in 0..self.of {
            let mut target = Target::new(self.names.permit(number), Access::Write);
            if let Some(locked) = target.try_lock(&aim.place, How::Alone, Some(signal))? {
                return Ok(Some(locked));
            }
        }
        Ok(None)
    }
}
