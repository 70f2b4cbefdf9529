//! Workflows on durable stores, beside the least that a program could write down for them. PostgreSQL is the server that
//! the locks are measured on; SQLite is a file beside this program.
//!
//! All with 32 clients, and everything on the disk before anybody is answered. The nodes have been started: they look for
//! work meanwhile, as they do anywhere.

mod clients;
mod cluster;
mod cpu;
mod dbos;
mod group;
mod nodes;
mod raw;
mod work;

use super::EACH;
use crate::cell::{Bar, Cell, Figure, Fold, Side, Unit};

/// The group of these cells.
pub(super) const GROUP: &str = "store";

/// The processor's time for each, of this program and of all processes of the server.
const CPU: Figure = Figure {
    name: "CPU",
    unit: Unit::Nanoseconds,
    over_rounds: Fold::Median,
};

/// One row and three changes of it, each on the disk before the next.
const FOUR_COMMITS: Side = Side {
    label: "tokio-postgres: prepared INSERT and three UPDATEs, a commit each; 32 connections",
    start: raw::four_commits,
};

const THREE_STEPS: Cell = Cell {
    name: "store/postgres-3-steps",
    about: "Creates an instance on PostgreSQL that sets three variables, and runs it to its end: it exists before it \
            runs, and one commit has the rest. The time of all by their number, with 32 clients.",
    figures: &[EACH],
    operations: 1_600,
    most_rounds: Some(7),
    subject: Side {
        label: "client.create_and_run(…), one commit for each burst; two threads",
        start: nodes::postgres_bursts,
    },
    floor: Some(FOUR_COMMITS),
    bar: Some(Bar::Ratio(1.0)),
};

/// The group of cells that need a server of locks besides.
pub(super) const CLUSTER: &str = "cluster";

const ONE_NODE: Cell = Cell {
    name: "cluster/one-node-redis",
    about: "The same three steps on a node that takes the lock of each instance, on Redis, beside a node without locks.",
    subject: Side {
        label: "builder.distributed(locks, …): client.create_and_run(…); two threads",
        start: cluster::one_on_redis,
    },
    floor: Some(Side {
        label: "builder.build(): the same; two threads",
        start: cluster::alone,
    }),
    // Six tenths of as many a second.
    bar: Some(Bar::Ratio(1.0 / 0.6)),
    ..THREE_STEPS
};

pub(super) const CELLS: &[Cell] = &[
    ONE_NODE,
    Cell {
        name: "cluster/one-node-postgres",
        about: "The same with locks on the server of the store.",
        subject: Side {
            label: "builder.distributed(locks, …): client.create_and_run(…); two threads",
            start: cluster::one_on_postgres,
        },
        ..ONE_NODE
    },
    Cell {
        name: "cluster/three-nodes",
        about: "Three nodes in this process, each with connections of its own, beside one; the clients divided among \
                them. On one machine they share its cores.",
        subject: Side {
            label: "three nodes, locks on Redis; two threads",
            start: cluster::three_on_redis,
        },
        floor: Some(Side {
            label: "one node, locks on Redis; two threads",
            start: cluster::one_on_redis,
        }),
        bar: None,
        ..THREE_STEPS
    },
    THREE_STEPS,
    Cell {
        name: "store/postgres-3-steps-dbos",
        about: "The same by another engine, dbos: a workflow of three steps, each written down.",
        operations: 640,
        subject: Side {
            label: "dbos: workflow.run(()) with three dbos::step; 32 connections, two threads",
            start: dbos::three_steps,
        },
        bar: None,
        ..THREE_STEPS
    },
    Cell {
        name: "store/postgres-3-commits",
        about: "The same with a commit for each step.",
        subject: Side {
            label: "client.create_and_run(…), one commit for each step; two threads",
            start: nodes::postgres_steps,
        },
        // A third of as many a second.
        bar: Some(Bar::Ratio(1.0 / 0.35)),
        ..THREE_STEPS
    },
    Cell {
        name: "store/postgres-cpu",
        about: "What the processor does for each of these with one commit for each burst, PostgreSQL's processes included.",
        figures: &[CPU],
        subject: Side {
            label: "client.create_and_run(…), one commit for each burst",
            start: nodes::postgres_cpu,
        },
        floor: Some(Side {
            label: "tokio-postgres: prepared INSERT and three UPDATEs, a commit each",
            start: raw::four_commits_cpu,
        }),
        bar: Some(Bar::Figure(CPU.name, 1.2e6)),
        ..THREE_STEPS
    },
    RESUME,
    Cell {
        name: "store/postgres-event",
        about: "The same by an event, which is written down, finds its bookmark and is delivered.",
        subject: Side {
            label: "sender.event(name); two threads",
            start: nodes::postgres_told,
        },
        bar: None,
        ..RESUME
    },
    Cell {
        name: "store/sqlite-3-steps",
        about: "Creates an instance on SQLite that sets three variables, and runs it to its end, with 32 clients.",
        subject: Side {
            label: "client.create_and_run(…), one commit for each burst; two threads",
            start: nodes::sqlite_bursts,
        },
        floor: Some(Side {
            label: "rusqlite: INSERT and three UPDATEs, each answered after its commit; whatever waits shares the next \
                    commit; one writer thread",
            start: group::four_commits,
        }),
        bar: Some(Bar::Ratio(1.0 / 0.15)),
        ..THREE_STEPS
    },
];

const RESUME: Cell = Cell {
    name: "store/postgres-resume",
    about: "Resumes an instance that waits on PostgreSQL, at its bookmark: a variable is set and it is over. The time of \
            all by their number, with 32 clients.",
    subject: Side {
        label: "resumer.resume(instance, bookmark); two threads",
        start: nodes::postgres_resumed,
    },
    floor: Some(Side {
        label: "tokio-postgres: prepared DELETE of a bookmark and UPDATE in one statement; 32 connections",
        start: raw::resume,
    }),
    // A quarter of as many a second.
    bar: Some(Bar::Ratio(1.0 / 0.25)),
    ..THREE_STEPS
};
