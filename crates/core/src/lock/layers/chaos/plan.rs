//! What happens to which operation.

use super::Chaos;
use crate::lock::{Error, ErrorKind, Result};
use rand::{RngExt, SeedableRng, rngs::Xoshiro256PlusPlus};
use std::{
    sync::{Mutex, PoisonError},
    time::Duration,
};

/// Fates, one after another.
#[derive(Debug)]
pub(super) struct Plan {
    chaos: Chaos,
    /// How many fates there were, and where the next one comes from: a generator that gives the same
    /// numbers on every machine.
    drawn: Mutex<(u64, Xoshiro256PlusPlus)>,
}

impl Plan {
    pub(super) fn new(chaos: Chaos) -> Self {
        let random = Xoshiro256PlusPlus::seed_from_u64(chaos.seed);
        Self {
            chaos,
            drawn: Mutex::new((0, random)),
        }
    }

    /// The next fate.
    pub(super) fn fate(&self) -> Fate {
        let mut drawn = self.drawn.lock().unwrap_or_else(PoisonError::into_inner);
        let (number, random) = &mut *drawn;
        *number += 1;
        // Always as many draws, so that one setting does not change what another one does.
        let [before, after, delays, delay, side, loses, loss] =
            [(); 7].map(|()| random.random::<f64>());
        let chaos = &self.chaos;
        let late = |yes| part(yes && delays < chaos.delay.0, chaos.delay.1, delay);
        Fate {
            number: *number,
            fails_before: before < chaos.fail_before,
            fails_after: after < chaos.fail_after,
            late_there: late(side < 0.5),
            late_back: late(side >= 0.5),
            lost_after: part(loses < chaos.lose.0, chaos.lose.1, loss),
        }
    }

    /// How often to ask for a lock that is busy, if nobody tells.
    pub(super) const fn deaf(&self) -> Option<Duration> {
        self.chaos.deaf
    }
}

fn part(yes: bool, longest: Duration, draw: f64) -> Option<Duration> {
    yes.then(|| longest.mul_f64(draw))
}

/// What happens to one operation.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fate {
    number: u64,
    fails_before: bool,
    fails_after: bool,
    late_there: Option<Duration>,
    late_back: Option<Duration>,
    pub(super) lost_after: Option<Duration>,
}

impl Fate {
    /// The way to the backend.
    pub(super) async fn there(&self) -> Result<()> {
        sleep(self.late_there).await;
        if self.fails_before {
            return Err(self.injected("before it reached the backend"));
        }
        Ok(())
    }

    /// The way back.
    pub(super) async fn back(&self) -> Result<()> {
        sleep(self.late_back).await;
        if self.fails_after {
            return Err(self.injected("on the way back from the backend"));
        }
        Ok(())
    }

    fn injected(&self, whence: &'static str) -> Error {
        let message = "this failure was injected by the chaos layer";
        Error::new(ErrorKind::Unavailable, message)
            .with("operation", self.number)
            .with("failed", whence)
    }
}

async fn sleep(time: Option<Duration>) {
    if let Some(time) = time {
        tokio::time::sleep(time).await;
    }
}
