//! The long test: again and again somebody holds the lock, somebody else waits for it, and the
//! holder is killed or frozen at a moment nobody chose.

use super::{becomes, on::On};
use rand::RngExt;
use rustix::process::Signal;
use std::{thread::sleep, time::Duration};

/// What becomes of the lock of a frozen holder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Frozen {
    /// It ends in time, and somebody else has it.
    LosesIt,
    /// It lasts until the holder is killed.
    KeepsIt,
}

/// What came of the rounds.
#[derive(Debug)]
pub(crate) struct Tally {
    pub(crate) begun: usize,
    pub(crate) killed: usize,
    pub(crate) frozen: usize,
    /// How many commands began while something of another was alive.
    pub(crate) overlaps: usize,
}

/// So many rounds on the lock `name`; half of the holders are killed, the others are frozen.
pub(crate) fn rounds(on: &On, name: &str, rounds: usize, frozen: Frozen) -> Tally {
    let witness = env!("CARGO_BIN_EXE_witness");
    let dir = on.dir.path().to_str().expect("a plain path").to_owned();
    let start = || on.run(&["--grace", "50ms"], name, &[witness, &dir]);
    let count = |file: &str| {
        let text = std::fs::read_to_string(on.dir.path().join(file));
        text.map_or(0, |text| text.lines().count())
    };
    let mut tally = Tally {
        begun: 0,
        killed: 0,
        frozen: 0,
        overlaps: 0,
    };
    let mut holder = start();
    for round in 0..rounds {
        becomes("the next command begins", || count("begun") > round);
        let next = start();
        sleep(Duration::from_micros(rand::rng().random_range(0..100_000)));
        if rand::rng().random_bool(0.5) {
            holder.send(Signal::KILL);
            tally.killed += 1;
        } else {
            holder.send(Signal::STOP);
            tally.frozen += 1;
            if frozen == Frozen::KeepsIt {
                sleep(Duration::from_micros(rand::rng().random_range(0..100_000)));
                assert_eq!(count("begun"), round + 1, "it was given away");
                holder.send(Signal::KILL);
            }
            // Until it has done its harm, if it does any.
            becomes("the next command begins", || count("begun") > round + 1);
        }
        holder = next;
    }
    becomes("the last command begins", || count("begun") > rounds);
    tally.begun = count("begun");
    tally.overlaps = count("overlaps");
    tally
}
