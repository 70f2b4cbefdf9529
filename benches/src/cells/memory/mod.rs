//! The memory backend: what everything but a server costs.

mod baton;
mod pass;
mod uncontended;
mod waiters;

use super::{EACH, P50, P99};
use crate::cell::{Bar, Cell, Side};

/// One acquisition after the other, each of another name: nobody is ever in the way.
const UNCONTENDED: Cell = Cell {
    name: "memory/uncontended",
    about: "Takes and drops one of 1,000 free mutexes, its handle made from a &str each time.",
    figures: &[EACH],
    operations: 20_000,
    most_rounds: None,
    subject: Side {
        label: "locks.mutex(name).lock(), guard dropped",
        start: uncontended::handle_made,
    },
    floor: Some(uncontended::FLOOR),
    bar: Some(Bar::Ratio(5.0)),
};

const PASS: Cell = Cell {
    name: "memory/pass",
    about: "Two tasks of one thread pass a mutex to and fro; each drop finds the other waiting.",
    figures: &[P50, P99],
    operations: 10_000,
    most_rounds: None,
    subject: Side {
        label: "from before the guard's drop to the other's lock() returning",
        start: || pass::subject(super::one_thread()?),
    },
    floor: Some(Side {
        label: "tokio::sync::Mutex",
        start: || pass::floor(super::one_thread()?),
    }),
    bar: Some(Bar::Figure(P50.name, 10_000.0)),
};

pub(super) const CELLS: &[Cell] = &[
    UNCONTENDED,
    Cell {
        name: "memory/uncontended-release",
        about: "The same, with the guard released and the release awaited.",
        subject: Side {
            label: "locks.mutex(name).lock(), guard.release()",
            start: uncontended::released,
        },
        bar: None,
        ..UNCONTENDED
    },
    Cell {
        name: "memory/handle-kept",
        about: "The same with 1,000 handles made beforehand, the guard dropped.",
        subject: Side {
            label: "mutex.lock(), guard dropped",
            start: uncontended::handle_kept,
        },
        bar: None,
        ..UNCONTENDED
    },
    Cell {
        name: "memory/allocations",
        about: "How often memory is allocated on the way, exactly; its handle made each time.",
        figures: &[uncontended::ALLOCATIONS, uncontended::BYTES],
        operations: 10_000,
        most_rounds: None,
        subject: Side {
            label: "locks.mutex(name).lock(), guard dropped",
            start: uncontended::allocations,
        },
        floor: None,
        bar: Some(Bar::Figure(uncontended::ALLOCATIONS.name, 12.0)),
    },
    PASS,
    Cell {
        name: "memory/pass-2-workers",
        about: "The same with two worker threads to run the two tasks. Tokio runs a task where it was \
                woken, so most passes stay on one of them.",
        subject: Side {
            label: PASS.subject.label,
            start: || pass::subject(super::two_workers()?),
        },
        floor: Some(Side {
            label: "tokio::sync::Mutex",
            start: || pass::floor(super::two_workers()?),
        }),
        bar: None,
        ..PASS
    },
    Cell {
        name: "memory/1000-waiters",
        about: "1,000 tasks of one Locks queue for a name another Locks holds; each takes and \
                drops it once. How many of them the backend sees waiting is looked at apart.",
        figures: &[waiters::TOTAL, waiters::SEEN],
        operations: 1_000,
        most_rounds: None,
        subject: Side {
            label: "mutex.lock() in each, guards dropped",
            start: waiters::subject,
        },
        floor: Some(Side {
            label: "tokio::sync::Mutex",
            start: waiters::floor,
        }),
        bar: Some(Bar::Figure(waiters::SEEN.name, 1.0)),
    },
];
