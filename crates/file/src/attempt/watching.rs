//! How a waiter is told that it is time to try again, and when it looks for itself.

use super::{Aim, Pause};
use crate::{
    sys,
    watch::{self, Watch},
};
use lockwork_core::lock::backend::Pace;
use rand::RngExt;
use std::{sync::Arc, time::Duration};

/// The files a waiter is told of.
#[derive(Debug, Default)]
pub(crate) struct Watching {
    /// Empty if nothing can be told.
    watches: Vec<Watch>,
    /// The last pause of who is told nothing.
    pause: Duration,
}

/// How long a waiter who is told does not look for itself, at most.
const LONGEST: Duration = Duration::from_secs(1);
/// The same for one who is told nothing.
const LONGEST_UNTOLD: Duration = Duration::from_millis(50);
const SHORTEST: Duration = Duration::from_millis(1);

/// The bounds of all that.
pub(crate) const PACE: Pace = Pace {
    least: SHORTEST,
    most: LONGEST,
};

impl Watching {
    /// Watches `names` instead of what was watched before. All of them or none: whoever is told of
    /// half must look as often as who is told nothing.
    pub(crate) fn begin(&mut self, aim: &Aim, names: &[Arc<str>]) {
        let paths = names.iter().map(|name| aim.place.path().join(&**name));
        // Nobody waits for a file that nobody has made yet.
        let there = paths.filter(|path| sys::facts_at(path).is_ok_and(|facts| facts.is_some()));
        let watches: Option<Vec<_>> = there
            .map(|path| watch::file(&aim.place, &path, &aim.id))
            .collect();
        self.watches = watches.unwrap_or_default();
    }

    /// How long to wait at most before the next try.
    pub(crate) fn longest(&mut self, pause: Pause) -> Duration {
        match pause {
            Pause::AMoment => SHORTEST,
            Pause::UntilTold if self.watches.is_empty() => {
                self.pause = (self.pause * 2).clamp(SHORTEST, LONGEST_UNTOLD);
                rand::rng().random_range(self.pause / 2..=self.pause)
            }
            Pause::UntilTold => rand::rng().random_range(LONGEST * 2 / 3..=LONGEST),
        }
    }
}
