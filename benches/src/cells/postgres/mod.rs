//! The PostgreSQL backend, beside what the server itself costs and beside other crates that lock
//! there. All on one server, which is started for the run.

mod forwarder;
mod held;
mod kinds;
mod server;

use super::{
    EACH, MAX, P50, P99, Role,
    handoff::{first, second},
    served::{self, Handed, Kind, Lockwork, tasks},
};
use crate::cell::{Bar, Cell, Figure, Outcome, Side, Turns};
use kinds::{DistributedLockPostgres, Plain, Sqlx};

pub(super) use server::{about_server, client, url};

/// The group of these cells.
pub(super) const GROUP: &str = "postgres";

/// What processes started by these cells do.
pub(super) const ROLES: &[&[Role]] = &[
    &[server::ROLE],
    &of_kind::<Plain<true>>(),
    &of_kind::<Sqlx>(),
    &of_kind::<DistributedLockPostgres>(),
];

const fn of_kind<K: Handed>() -> [Role; 2] {
    [first::<K>(), second::<K>()]
}

const HANDED: &[Figure] = &[P50, P99];
const HANDED_UNTOLD: &[Figure] = &[P50, P99, MAX];

fn one<K: Kind>() -> Outcome<Turns> {
    tasks::one::<K>(server::url()?)
}

fn many<K: Kind, const TASKS: u64>() -> Outcome<Turns> {
    tasks::many::<K>(server::url()?, TASKS)
}

fn between<K: Handed>() -> Outcome<Turns> {
    served::between::<K>(server::url()?, HANDED)
}

fn between_untold() -> Outcome<Turns> {
    let server = server::address()?;
    let deaf = forwarder::without_notifications(server)?;
    let url = server::url()?.replace(&server.to_string(), &deaf.to_string());
    served::between::<Lockwork>(&url, HANDED_UNTOLD)
}

const ONE_TASK: Cell = Cell {
    name: "postgres/one-task",
    about: "One task takes and gives back one free mutex again and again, with a token each time \
            and waiting for the answer each time.",
    figures: &[EACH],
    operations: 1_000,
    most_rounds: None,
    subject: Side {
        label: "mutex.lock(), guard.release(); current-thread runtime",
        start: one::<Lockwork>,
    },
    floor: Some(Side {
        label: "tokio-postgres: prepared pg_try_advisory_lock and pg_advisory_unlock; \
                current-thread runtime",
        start: one::<Plain<false>>,
    }),
    bar: Some(Bar::Ratio(1.8)),
};

const MANY_TASKS: Cell = Cell {
    name: "postgres/64-tasks",
    about: "64 tasks take and give back a free mutex each, again and again, with a token each time \
            and waiting for the answer each time: the time of all by the number of pairs.",
    operations: 6_400,
    subject: Side {
        label: "mutex.lock(), guard.release() in each task; current-thread runtime",
        start: many::<Lockwork, 64>,
    },
    floor: Some(Side {
        label: "tokio-postgres: prepared pg_try_advisory_lock and pg_advisory_unlock in each task, \
                pipelined on one connection; current-thread runtime",
        start: many::<Plain<false>, 64>,
    }),
    // One and a half times as many pairs a second.
    bar: Some(Bar::Ratio(1.0 / 1.5)),
    ..ONE_TASK
};

const HANDOFF: Cell = Cell {
    name: "postgres/handoff",
    about: "Two processes take a mutex by turns, each kept on a core of its own, which they share \
            with the server. The one gives it back 3 to 6 ms after it hears that the other's lock() \
            is pending: from before that release() to that lock() returning.",
    figures: HANDED,
    operations: 200,
    most_rounds: None,
    subject: Side {
        label: "mutex.lock() on a current-thread runtime, guard.release(); two cores",
        start: between::<Lockwork>,
    },
    floor: Some(Side {
        label: "tokio-postgres: prepared pg_advisory_lock, which waits, and pg_advisory_unlock, on \
                a connection of each process; two cores",
        start: between::<Plain<true>>,
    }),
    bar: Some(Bar::Ratio(2.5)),
};

pub(super) const CELLS: &[Cell] = &[
    ONE_TASK,
    Cell {
        name: "postgres/one-task-sqlx",
        about: "Another crate, with a connection of a pool for each lock. No token.",
        subject: Side {
            label: "sqlx: pool.acquire, PgAdvisoryLock::acquire, release_now; current-thread \
                    runtime, test_before_acquire off",
            start: one::<Sqlx>,
        },
        bar: None,
        ..ONE_TASK
    },
    Cell {
        name: "postgres/one-task-dlp",
        about: "Another crate, distributed-lock-postgres: a connection of a pool and a transaction \
                around each acquire. No token.",
        operations: 500,
        subject: Side {
            label: "distributed-lock-postgres: acquire, release; current-thread runtime",
            start: one::<DistributedLockPostgres>,
        },
        bar: None,
        ..ONE_TASK
    },
    MANY_TASKS,
    Cell {
        name: "postgres/64-tasks-sqlx",
        about: "The same by another crate, with 64 connections, one for each lock. No token.",
        operations: 3_200,
        subject: Side {
            label: "sqlx: pool.acquire, PgAdvisoryLock::acquire, release_now in each task; \
                    current-thread runtime, pool of 64, test_before_acquire off",
            start: many::<Sqlx, 64>,
        },
        bar: None,
        ..MANY_TASKS
    },
    Cell {
        name: "postgres/64-tasks-dlp",
        about: "The same by another crate, distributed-lock-postgres, whose pool has ten \
                connections: 54 tasks wait for one. No token.",
        operations: 1_280,
        subject: Side {
            label: "distributed-lock-postgres: acquire, release in each task; current-thread \
                    runtime, its own pool",
            start: many::<DistributedLockPostgres, 64>,
        },
        bar: None,
        ..MANY_TASKS
    },
    Cell {
        name: "postgres/1000-tasks",
        about: "The same as with 64 tasks, with 1,000.",
        operations: 20_000,
        subject: Side {
            label: "mutex.lock(), guard.release() in each task; current-thread runtime",
            start: many::<Lockwork, 1_000>,
        },
        floor: Some(Side {
            label: "tokio-postgres: prepared pg_try_advisory_lock and pg_advisory_unlock in each \
                    task, pipelined on one connection; current-thread runtime",
            start: many::<Plain<false>, 1_000>,
        }),
        // Five times as many pairs a second.
        bar: Some(Bar::Ratio(1.0 / 5.0)),
        ..MANY_TASKS
    },
    Cell {
        name: "postgres/10000-locks",
        about: "10,000 tasks of one process take a free mutex each and hold it: from before the \
                first lock() to after the last, with all connections but one opened on the way, \
                and how many connections the server has then.",
        figures: &[held::ALL, held::CONNECTIONS],
        operations: 10_000,
        most_rounds: Some(7),
        subject: Side {
            label: "mutex.lock() in each task; current-thread runtime",
            start: held::at_once,
        },
        floor: None,
        bar: Some(Bar::Figures(&[
            (held::ALL.name, 5e8),
            (held::CONNECTIONS.name, 12.0),
        ])),
    },
    HANDOFF,
    Cell {
        name: "postgres/handoff-untold",
        about: "The same with a forwarder before the server that drops all notifications: nobody \
                is told that the mutex was given back.",
        figures: HANDED_UNTOLD,
        operations: 50,
        most_rounds: Some(5),
        subject: Side {
            label: "mutex.lock() on a current-thread runtime, guard.release(); two cores, no \
                    notifications",
            start: between_untold,
        },
        floor: None,
        bar: Some(Bar::Figure(MAX.name, 4e8)),
    },
    Cell {
        name: "postgres/handoff-sqlx",
        about: "The hand-off by another crate. Whoever waits does so at the server, with a \
                connection of its own. No token.",
        subject: Side {
            label: "sqlx: pool.acquire, PgAdvisoryLock::acquire, release_now; two cores",
            start: between::<Sqlx>,
        },
        bar: None,
        ..HANDOFF
    },
    Cell {
        name: "postgres/handoff-dlp",
        about: "The hand-off by another crate, distributed-lock-postgres. Whoever waits does so at \
                the server, with a connection of its own. No token.",
        subject: Side {
            label: "distributed-lock-postgres: acquire, release; two cores",
            start: between::<DistributedLockPostgres>,
        },
        bar: None,
        ..HANDOFF
    },
];
