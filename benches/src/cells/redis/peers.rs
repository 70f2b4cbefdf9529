//! The same by other crates: none of them has a token.

use super::{
    MANY_TASKS, ONE_TASK, THOUSAND_TASKS,
    kinds::{AsyncRedisLock, DistributedLockRedis, Redlock, Rslock},
    many, one,
};
use crate::cell::{Cell, Outcome, Side, Turns};

/// Another crate.
struct Peer {
    about: &'static str,
    label: &'static str,
}

const RSLOCK: Peer = Peer {
    about: "The same by another crate, rslock, on one connection. No token, no renewal.",
    label: "rslock: acquire, release; current-thread runtime",
};

const REDLOCK: Peer = Peer {
    about: "The same by another crate, redlock, with a new connection for each command. No token, \
            no renewal.",
    label: "redlock: lock, unlock in spawn_blocking; current-thread runtime",
};

const DLR: Peer = Peer {
    about: "The same by another crate, distributed-lock-redis, on one connection, with a task for \
            each lock that is held, which renews it at once. No token.",
    label: "distributed-lock-redis: acquire, release; current-thread runtime",
};

const ARL: Peer = Peer {
    about: "The same by another crate, async-redis-lock, on one connection, with a task for each \
            lock that is held. No token.",
    label: "async-redis-lock: acquire, release; current-thread runtime",
};

/// What `cell` measures, by another crate.
const fn by(peer: &Peer, name: &'static str, start: fn() -> Outcome<Turns>, cell: Cell) -> Cell {
    Cell {
        name,
        about: peer.about,
        subject: Side {
            label: peer.label,
            start,
        },
        bar: None,
        ..cell
    }
}

pub(super) const ONE_TASK_RSLOCK: Cell =
    by(&RSLOCK, "redis/one-task-rslock", one::<Rslock>, ONE_TASK);

/// Connections leave their ports behind for a while: so few of them that there are always some.
pub(super) const ONE_TASK_REDLOCK: Cell = Cell {
    operations: 200,
    most_rounds: Some(5),
    ..by(&REDLOCK, "redis/one-task-redlock", one::<Redlock>, ONE_TASK)
};

pub(super) const ONE_TASK_DLR: Cell = by(
    &DLR,
    "redis/one-task-dlr",
    one::<DistributedLockRedis>,
    ONE_TASK,
);

pub(super) const ONE_TASK_ARL: Cell =
    by(&ARL, "redis/one-task-arl", one::<AsyncRedisLock>, ONE_TASK);

pub(super) const MANY_TASKS_RSLOCK: Cell = by(
    &RSLOCK,
    "redis/64-tasks-rslock",
    many::<Rslock, 64>,
    MANY_TASKS,
);

pub(super) const MANY_TASKS_REDLOCK: Cell = Cell {
    operations: 640,
    most_rounds: Some(5),
    ..by(
        &REDLOCK,
        "redis/64-tasks-redlock",
        many::<Redlock, 64>,
        MANY_TASKS,
    )
};

pub(super) const MANY_TASKS_DLR: Cell = by(
    &DLR,
    "redis/64-tasks-dlr",
    many::<DistributedLockRedis, 64>,
    MANY_TASKS,
);

pub(super) const MANY_TASKS_ARL: Cell = by(
    &ARL,
    "redis/64-tasks-arl",
    many::<AsyncRedisLock, 64>,
    MANY_TASKS,
);

pub(super) const THOUSAND_TASKS_RSLOCK: Cell = by(
    &RSLOCK,
    "redis/1000-tasks-rslock",
    many::<Rslock, 1_000>,
    THOUSAND_TASKS,
);

pub(super) const THOUSAND_TASKS_DLR: Cell = by(
    &DLR,
    "redis/1000-tasks-dlr",
    many::<DistributedLockRedis, 1_000>,
    THOUSAND_TASKS,
);

pub(super) const THOUSAND_TASKS_ARL: Cell = by(
    &ARL,
    "redis/1000-tasks-arl",
    many::<AsyncRedisLock, 1_000>,
    THOUSAND_TASKS,
);
