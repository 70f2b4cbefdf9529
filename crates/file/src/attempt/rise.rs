//! From having the intent to write to being the writer: shut the gate, and wait until all readers
//! have left.

use super::{Aim, Pause, step::Step};
use crate::{
    locked::{How, Locked, Target},
    names::Names,
    stamp::{self, Stamp},
    sys::Access,
};
use lockwork_core::lock::{LossSignal, Result};

/// How often to look whether a reader who is just passing has passed.
const LOOKS: u32 = 50;

/// A writer's way in. Dropped, it opens the gate again.
#[derive(Debug)]
pub(crate) struct Rise {
    gate: Step,
    main: Target,
}

impl Rise {
    pub(crate) fn new(names: &Names) -> Self {
        Self {
            gate: Step::new(Target::new(names.gate(), Access::Write)),
            main: Target::new(names.main(), Access::Write),
        }
    }

    /// The file whose closing says that a reader has left.
    pub(crate) const fn main(&mut self) -> &mut Target {
        &mut self.main
    }

    /// One try; when to try again, if it did not succeed.
    pub(crate) fn attempt(
        &mut self,
        aim: &Aim,
        signal: &LossSignal,
    ) -> Result<Result<(Locked, Stamp), Pause>> {
        if !self.shut_gate(aim)? {
            return Ok(Err(Pause::AMoment));
        }
        let Some(main) = self.main.try_lock(&aim.place, How::Alone, Some(signal))? else {
            return Ok(Err(Pause::UntilTold));
        };
        let page = stamp::read(main.opened())?;
        let Some(stamp) = stamp::write(&aim.place, &main, &page, aim.who)? else {
            return Ok(Err(Pause::AMoment));
        };
        drop(self.gate.take());
        Ok(Ok((main, stamp)))
    }

    fn shut_gate(&mut self, aim: &Aim) -> Result<bool> {
        if self.gate.is_taken() {
            return Ok(true);
        }
        for _ in 0..LOOKS {
            if let Some(locked) = self.gate.target().try_lock(&aim.place, How::Alone, None)? {
                self.gate.keep(locked);
                return Ok(true);
            }
            // Readers have it for a few microseconds each.
            std::thread::yield_now();
        }
        Ok(false)
    }
}
