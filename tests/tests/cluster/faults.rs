//! What happens when, by a seed.

use rand::{RngExt, SeedableRng, rngs::StdRng};
use std::{fmt, time::Duration};

/// Something that goes wrong.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Fault {
    /// A node is killed, and another one takes its place.
    Kill(usize),
    /// A node stands still for longer than its locks are good.
    Freeze(usize),
    /// All connections to the lock server are gone.
    Cut,
    /// All connections to the store are gone.
    CutStore,
    /// The lock server is restarted.
    Restart,
    /// The lock server forgets who holds what.
    Empty,
}

/// Faults, each with the time since the one before.
#[derive(Debug)]
pub(crate) struct Faults {
    chance: StdRng,
    nodes: usize,
    /// So many at least.
    least: usize,
    /// Those that happened, by kind.
    happened: [usize; 6],
}

impl Faults {
    pub(crate) fn new(seed: u64, nodes: usize, least: usize) -> Self {
        Self {
            chance: StdRng::seed_from_u64(seed),
            happened: [0; 6],
            least,
            nodes,
        }
    }

    pub(crate) fn next(&mut self) -> (Duration, Fault) {
        let pause = Duration::from_millis(self.chance.random_range(200..1_200));
        let node = self.chance.random_range(0..self.nodes);
        let fault = match self.chance.random_range(0..12) {
            0..4 => Fault::Kill(node),
            4..6 => Fault::Freeze(node),
            6..8 => Fault::Cut,
            8 => Fault::Restart,
            9 => Fault::Empty,
            _ => Fault::CutStore,
        };
        (pause, fault)
    }

    /// It happened: not everything can, at any time and to any server.
    pub(crate) const fn count(&mut self, fault: Fault) {
        let number = match fault {
            Fault::Kill(_) => 0,
            Fault::Freeze(_) => 1,
            Fault::Cut => 2,
            Fault::Restart => 3,
            Fault::Empty => 4,
            Fault::CutStore => 5,
        };
        self.happened[number] += 1;
    }

    /// Whether as many happened as have to.
    pub(crate) fn are_enough(&self) -> bool {
        self.happened.iter().sum::<usize>() >= self.least
    }
}

impl fmt::Display for Faults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [kills, freezes, cuts, restarts, emptied, store] = self.happened;
        write!(
            f,
            "{kills:>3} killed {freezes:>3} frozen {cuts:>3} cut {restarts:>3} restarted {emptied:>3} emptied {store:>3} store cut"
        )
    }
}
