//! Workflows on the store in memory: what everything but a database costs.
//!
//! Counted is the time of the processor, of all threads of this program: it is what one pays for, and whoever else
//! uses the machine changes it less than the time on the wall.

mod bare;
mod orders;
mod runs;

use crate::cell::{Bar, Cell, Figure, Fold, Outcome, Side, Unit};
use rustix::time::{ClockId, clock_gettime};
use std::time::{Duration, Instant};

/// The processor's time for each.
const CPU: Figure = Figure {
    name: "CPU",
    unit: Unit::Nanoseconds,
    over_rounds: Fold::Median,
};

/// How many are done in a second, by a clock on the wall.
const RATE: Figure = Figure {
    name: "per second",
    unit: Unit::Count,
    over_rounds: Fold::Median,
};

/// A burst as the promise has it: resumed at its bookmark, three steps, one commit.
const BURST: Cell = Cell {
    name: "workflow/burst",
    about: "Resumes an instance at its bookmark: two variables are set, it waits again, one commit. \
            One thread, one burst after the other, each of another instance.",
    figures: &[CPU, RATE],
    operations: 50_000,
    most_rounds: Some(5),
    subject: Side {
        label: "resumer.resume(instance, bookmark)",
        start: runs::resumed,
    },
    floor: Some(Side {
        label: "Burst alone: no turn, no claim, no commit",
        start: bare::burst,
    }),
    bar: Some(Bar::Figure(CPU.name, 20_000.0)),
};

pub(super) const CELLS: &[Cell] = &[
    BURST,
    Cell {
        name: "workflow/event",
        about: "The same by an event, which is written down, finds its bookmark and is delivered.",
        subject: Side {
            label: "sender.event(name)",
            start: runs::told,
        },
        bar: None,
        ..BURST
    },
    Cell {
        name: "workflow/create-and-run",
        about: "Creates an instance that sets three variables, and runs it to its end.",
        subject: Side {
            label: "client.create_and_run(…)",
            start: runs::created,
        },
        floor: Some(Side {
            label: "Burst alone",
            start: bare::whole,
        }),
        bar: None,
        ..BURST
    },
];

/// Does `work` so often, and yields [`CPU`] and [`RATE`]. What it is done with is made before.
fn counted(operations: u64, work: impl FnOnce() -> Outcome<()>) -> Outcome<Vec<f64>> {
    let (cpu, begun) = (cpu(), Instant::now());
    work()?;
    let (cpu, wall) = (self::cpu() - cpu, begun.elapsed());
    let operations = operations as f64;
    Ok(vec![
        cpu.as_nanos() as f64 / operations,
        operations / wall.as_secs_f64(),
    ])
}

/// What all threads of this program have had of the processor so far.
fn cpu() -> Duration {
    let now = clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(
        now.tv_sec.try_into().unwrap_or_default(),
        now.tv_nsec.try_into().unwrap_or_default(),
    )
}
