//! The Redis backend, beside what the server itself costs and beside other crates that lock there.
//! All on one server, which is started for the run.
//!
//! Of other crates, `redlock` opens a connection for each command, and a thousand at once are more
//! than the server lets queue up: it is left out there.

mod contended;
mod held;
mod kinds;
mod peers;
mod server;
mod waiting;

use super::{
    EACH, MAX, P50, P99, Role, crowd,
    served::{self, Kind, Lockwork, tasks},
};
use crate::cell::{Bar, Cell, Figure, Outcome, Side, Turns};
use kinds::Plain;

pub(super) use server::{about_server, url};

/// The group of these cells.
pub(super) const GROUP: &str = "redis";

/// What processes started by these cells do.
pub(super) const ROLES: &[&[Role]] = &[&[server::ROLE, held::ROLE, contended::ROLE]];

const HANDED: &[Figure] = &[P50, P99];
const HANDED_UNTOLD: &[Figure] = &[P50, P99, MAX];

fn one<K: Kind>() -> Outcome<Turns> {
    tasks::one::<K>(&server::url()?)
}

fn many<K: Kind, const TASKS: u64>() -> Outcome<Turns> {
    tasks::many::<K>(&server::url()?, TASKS)
}

const ONE_TASK: Cell = Cell {
    name: "redis/one-task",
    about: "One task takes and gives back one free mutex again and again, with a token each time \
            and waiting for the answer each time.",
    figures: &[EACH],
    operations: 1_000,
    most_rounds: Some(10),
    subject: Side {
        label: "mutex.lock(), guard.release(); current-thread runtime",
        start: one::<Lockwork>,
    },
    floor: Some(Side {
        label: "redis: SET NX PX and EVALSHA of compare and delete, one connection; current-thread \
                runtime",
        start: one::<Plain>,
    }),
    bar: Some(Bar::Ratio(1.6)),
};

const MANY_TASKS: Cell = Cell {
    name: "redis/64-tasks",
    about: "64 tasks take and give back a free mutex each, again and again, with a token each time \
            and waiting for the answer each time: the time of all by the number of pairs.",
    operations: 6_400,
    subject: Side {
        label: "mutex.lock(), guard.release() in each task; current-thread runtime",
        start: many::<Lockwork, 64>,
    },
    floor: Some(Side {
        label: "redis: SET NX PX and EVALSHA of compare and delete in each task, pipelined on one \
                connection; current-thread runtime",
        start: many::<Plain, 64>,
    }),
    // Four fifths as many pairs a second.
    bar: Some(Bar::Ratio(1.0 / 0.8)),
    ..ONE_TASK
};

const THOUSAND_TASKS: Cell = Cell {
    name: "redis/1000-tasks",
    about: "The same as with 64 tasks, with 1,000.",
    operations: 20_000,
    subject: Side {
        label: "mutex.lock(), guard.release() in each task; current-thread runtime",
        start: many::<Lockwork, 1_000>,
    },
    floor: Some(Side {
        label: "redis: SET NX PX and EVALSHA of compare and delete in each task, pipelined on one \
                connection; current-thread runtime",
        start: many::<Plain, 1_000>,
    }),
    // A fifth more pairs a second.
    bar: Some(Bar::Ratio(1.0 / 1.2)),
    ..ONE_TASK
};

const HELD: Cell = Cell {
    name: "redis/10000-locks",
    about: "10,000 tasks of one process take a free mutex each and hold it: from before the first \
            lock() to after the last. While all are held: the connections of that process as the \
            server lists them, the tasks on its keeper, and the calls of one round of renewals, \
            with a lease of 3 s. Bytes are by how much the memory of the process grows by 10,000 \
            more.",
    figures: &[
        held::ALL,
        held::CONNECTIONS,
        held::TASKS,
        held::CALLS,
        held::MEMORY,
    ],
    operations: 10_000,
    most_rounds: Some(5),
    subject: Side {
        label: "mutex.lock() in each task; current-thread runtime",
        start: held::at_once,
    },
    floor: None,
    bar: Some(Bar::Figures(&[
        (held::CONNECTIONS.name, 2.0),
        (held::CALLS.name, 100.0),
    ])),
};

const WAITING: Cell = Cell {
    name: "redis/waiting",
    about: "1,000 tasks of a process wait for a mutex that another process holds; seen from \
            outside for 5 s, after 2 s. Calls are all that reach the server, the holder's renewals \
            too. Wake-ups are voluntary context switches of all threads of the process that waits.",
    figures: &[
        waiting::AT_SERVER,
        waiting::CALLS,
        crowd::PROCESSOR,
        crowd::WAKE_UPS,
    ],
    operations: 1_000,
    most_rounds: Some(3),
    subject: Side {
        label: "mutex.lock() in each task",
        start: waiting::behind_another,
    },
    floor: None,
    bar: Some(Bar::Figures(&[
        (waiting::AT_SERVER.name, 1.0),
        (waiting::CALLS.name, 2.0),
        // 10 ms in the 5 s.
        (crowd::PROCESSOR.name, 2e6),
    ])),
};

const CROWD: Cell = Cell {
    name: "redis/crowd",
    about: "Four tasks in each of two processes take one mutex, hold it for 1 ms (a sleep of \
            tokio's, which may be one longer) and give it back, at once again, for 3 s. A wait is \
            from before lock() to after it; calls are all that reach the server, by the number of \
            times somebody had it.",
    figures: &[
        contended::IDLE,
        contended::UNEVEN,
        contended::LONGEST,
        contended::CALLS,
        contended::EACH_HOLD,
    ],
    operations: 3_000,
    most_rounds: Some(5),
    subject: Side {
        label: "mutex.lock(), guard.release() in each task; current-thread runtimes",
        start: || contended::in_two_processes(""),
    },
    floor: None,
    bar: Some(Bar::Figures(&[
        (contended::IDLE.name, 5.0),
        (contended::UNEVEN.name, 2.0),
        // Twenty times what eight who hold it for 1 ms make the last of them wait.
        (contended::LONGEST.name, 1.6e8),
        (contended::CALLS.name, 1.0),
    ])),
};

const HANDOFF: Cell = Cell {
    name: "redis/handoff",
    about: "Two processes take a mutex by turns, each kept on a core of its own, which they share \
            with the server. The one gives it back 3 to 6 ms after it hears that the other's lock() \
            is pending: from before that release() to that lock() returning.",
    figures: HANDED,
    operations: 200,
    most_rounds: Some(10),
    subject: Side {
        label: "mutex.lock() on a current-thread runtime, guard.release(); two cores",
        start: || served::between::<Lockwork>(&server::url()?, HANDED),
    },
    floor: None,
    bar: None,
};

pub(super) const CELLS: &[Cell] = &[
    ONE_TASK,
    peers::ONE_TASK_RSLOCK,
    peers::ONE_TASK_REDLOCK,
    peers::ONE_TASK_DLR,
    peers::ONE_TASK_ARL,
    MANY_TASKS,
    peers::MANY_TASKS_RSLOCK,
    peers::MANY_TASKS_REDLOCK,
    peers::MANY_TASKS_DLR,
    peers::MANY_TASKS_ARL,
    THOUSAND_TASKS,
    peers::THOUSAND_TASKS_RSLOCK,
    peers::THOUSAND_TASKS_DLR,
    peers::THOUSAND_TASKS_ARL,
    HELD,
    WAITING,
    CROWD,
    Cell {
        name: "redis/crowd-no-tenure",
        about: "The same with no time in which a process may pass the mutex among its own tasks: \
                the server decides each time.",
        subject: Side {
            label: "mutex.lock(), guard.release() in each task; tenure=0; current-thread runtimes",
            start: || contended::in_two_processes("?tenure=0"),
        },
        bar: Some(Bar::Figures(&[
            (contended::UNEVEN.name, 2.0),
            (contended::LONGEST.name, 1.6e8),
            (contended::CALLS.name, 4.0),
        ])),
        ..CROWD
    },
    HANDOFF,
    Cell {
        name: "redis/handoff-untold",
        about: "The same as users who may not publish anything: nobody is told that the mutex was \
                given back.",
        figures: HANDED_UNTOLD,
        operations: 20,
        most_rounds: Some(3),
        subject: Side {
            label: "mutex.lock() on a current-thread runtime, guard.release(); two cores, no \
                    PUBLISH",
            start: || served::between::<Lockwork>(&server::mute_url()?, HANDED_UNTOLD),
        },
        floor: None,
        bar: Some(Bar::Figure(MAX.name, 1.2e9)),
    },
];
