//! The file backend, beside what the system itself costs and beside other crates that lock files.
//!
//! All files are in a directory beside this program, because `/tmp` is not on a disk everywhere.

mod kinds;
mod pipe;
mod tries;
mod uncontended;

use super::{
    EACH, ON_TWO_CORES, P50, P99, Role,
    crowd::{self, Crowded},
    directory, handoff,
    pair::{Cores, Setting},
};
use crate::cell::{Bar, Cell, Figure, Outcome, Side, Turns};
use kinds::{DistributedLockFile, FdLock, Fs4, Lockwork};
use std::time::Duration;

/// What processes started by these cells do.
pub(super) const ROLES: &[&[Role]] = &[
    &pipe::ROLES,
    &of_kind::<Lockwork>(),
    &of_kind::<Fs4>(),
    &of_kind::<FdLock>(),
    &of_kind::<DistributedLockFile>(),
];

const fn of_kind<K: Crowded>() -> [Role; 3] {
    [
        handoff::first::<K>(),
        handoff::second::<K>(),
        crowd::role::<K>(),
    ]
}

const UNCONTENDED: Cell = Cell {
    name: "file/uncontended",
    about: "Takes and drops one free mutex again and again, with its token written each time.",
    figures: &[EACH],
    operations: 2_000,
    most_rounds: None,
    subject: Side {
        label: "locks.mutex(name).lock(), guard dropped",
        start: uncontended::one_name,
    },
    floor: Some(Side {
        label: "open + flock(LOCK_EX|LOCK_NB) + close of a file that is there",
        start: uncontended::floor,
    }),
    bar: Some(Bar::Ratio(6.0)),
};

/// What a hand-off yields.
const HANDED: &[Figure] = &[P50, P99];

fn between<K: handoff::Kind>(setting: Setting) -> Outcome<Turns> {
    handoff::between::<K>(setting, directory()?, HANDED)
}

const ON_ONE_CORE: Setting = Setting {
    cores: Cores::One,
    ..ON_TWO_CORES
};

/// Long enough for the waiter to be asleep, and its core too.
const UNHURRIED: Setting = Setting {
    cores: Cores::Any,
    pause: Duration::from_millis(2),
};

const HANDOFF: Cell = Cell {
    name: "file/handoff",
    about: "Two processes take a mutex by turns, each kept on a core of its own. The one drops its \
            guard as soon as it hears that the other's lock() is pending: from before that drop to \
            that lock() returning.",
    figures: HANDED,
    operations: 1_000,
    most_rounds: None,
    subject: Side {
        label: "mutex.lock() on a current-thread runtime, guard dropped; two cores, no pause",
        start: || between::<Lockwork>(ON_TWO_CORES),
    },
    floor: Some(Side {
        label: "8 bytes through a pipe from one tokio process to another and 8 bytes back, half of \
                the round trip; two cores, no pause",
        start: || pipe::to_and_fro(ON_TWO_CORES),
    }),
    bar: Some(Bar::Ratio(5.0)),
};

const CROWD: Cell = Cell {
    name: "file/1000-waiters",
    about: "1,000 tasks of a process wait for a mutex that another process holds; seen from \
            outside for 3 s, after 2 s. Threads are those added since before the directory was \
            opened, less the keeper's, which all backends share. Tries are counted by what they \
            leave: each that fails writes a mark, and the file's time of change is looked at every \
            millisecond (two in one tick of the kernel count as one). Wake-ups are voluntary \
            context switches of all its threads.",
    figures: &[
        crowd::THREADS,
        tries::TRIES,
        crowd::WAKE_UPS,
        crowd::PROCESSOR,
    ],
    operations: 1_000,
    most_rounds: Some(3),
    subject: Side {
        label: "mutex.lock() in each task",
        start: tries::waiting::<Lockwork>,
    },
    floor: None,
    bar: Some(Bar::Figures(&[
        (crowd::THREADS.name, 1.0),
        (tries::TRIES.name, 2.0),
    ])),
};

pub(super) const CELLS: &[Cell] = &[
    UNCONTENDED,
    Cell {
        name: "file/many-names",
        about: "The same with 1,000 free mutexes, one after the other and each again.",
        subject: Side {
            label: "locks.mutex(name).lock(), guard dropped",
            start: uncontended::many_names,
        },
        bar: None,
        ..UNCONTENDED
    },
    Cell {
        name: "file/new-name",
        about: "The same with a mutex nobody has ever taken each time: its file is made.",
        operations: 1_000,
        subject: Side {
            label: "locks.mutex(new name).lock(), guard dropped",
            start: uncontended::new_name,
        },
        floor: Some(Side {
            label: "open + flock(LOCK_EX|LOCK_NB) + close of a file that is not there",
            start: uncontended::new_file,
        }),
        bar: None,
        ..UNCONTENDED
    },
    Cell {
        name: "file/read",
        about: "The same with a read lock nobody else has: two files, of which one stays locked.",
        subject: Side {
            label: "locks.rw_lock(name).read(), guard dropped",
            start: uncontended::read,
        },
        bar: None,
        ..UNCONTENDED
    },
    Cell {
        name: "file/permit",
        about: "The same with the first of a semaphore's four permits.",
        subject: Side {
            label: "locks.semaphore(name, 4).acquire(), guard dropped",
            start: uncontended::permit,
        },
        bar: None,
        ..UNCONTENDED
    },
    Cell {
        name: "file/uncontended-fs4",
        about: "Another crate: opens, locks, unlocks and closes a file. No token, no check that \
                the file is still there.",
        subject: Side {
            label: "fs4: File::open, try_lock, unlock, file dropped",
            start: uncontended::fs4,
        },
        bar: None,
        ..UNCONTENDED
    },
    Cell {
        name: "file/uncontended-fd-lock",
        about: "Another crate: opens, locks, unlocks and closes a file. No token, no check that \
                the file is still there.",
        subject: Side {
            label: "fd-lock: File::open, RwLock::new, try_write, guard and lock dropped",
            start: uncontended::fd_lock,
        },
        bar: None,
        ..UNCONTENDED
    },
    Cell {
        name: "file/uncontended-dlf",
        about: "Another crate, distributed-lock-file: makes, locks, unlocks and removes the file, \
                and sees to the directory. No token, no check that the file is still there.",
        operations: 1_000,
        subject: Side {
            label: "distributed-lock-file: create_lock, acquire, handle dropped",
            start: uncontended::distributed_lock_file,
        },
        bar: None,
        ..UNCONTENDED
    },
    HANDOFF,
    Cell {
        name: "file/handoff-one-core",
        about: "The same with both processes kept on one core: what wakes the other costs little, \
                and all that both of them do lies in between.",
        subject: Side {
            label: "mutex.lock() on a current-thread runtime, guard dropped; one core, no pause",
            start: || between::<Lockwork>(ON_ONE_CORE),
        },
        floor: Some(Side {
            label: "8 bytes through a pipe from one tokio process to another and 8 bytes back, \
                    half of the round trip; one core, no pause",
            start: || pipe::to_and_fro(ON_ONE_CORE),
        }),
        bar: None,
        ..HANDOFF
    },
    Cell {
        name: "file/handoff-same-pace",
        about: "The same with processes the system puts where it likes, and a guard that is \
                dropped 2 to 4 ms after the other began to wait, which sleeps by then.",
        operations: 80,
        subject: Side {
            label: "mutex.lock() on a current-thread runtime, guard dropped; any cores, after 2 to \
                    4 ms",
            start: || between::<Lockwork>(UNHURRIED),
        },
        floor: Some(Side {
            label: "8 bytes through a pipe to a tokio process, from before the write to after the \
                    read, one way; any cores, after 2 to 4 ms",
            start: || pipe::one_way(UNHURRIED),
        }),
        bar: None,
        ..HANDOFF
    },
    Cell {
        name: "file/handoff-fs4",
        about: "The hand-off by another crate: each waiter is a thread that the kernel wakes up, \
                and a task that waits for the thread. The task is pending once the thread is told \
                to lock, which may be a little before that waits.",
        subject: Side {
            label: "fs4: lock() in spawn_blocking, unlock; two cores, no pause",
            start: || between::<Fs4>(ON_TWO_CORES),
        },
        bar: None,
        ..HANDOFF
    },
    Cell {
        name: "file/handoff-fd-lock",
        about: "The hand-off by another crate. Its guard borrows from its lock, so both stay on \
                their thread, which is told to let go. Its task, too, is pending a little before \
                that thread waits.",
        subject: Side {
            label: "fd-lock: write() in spawn_blocking, guard dropped there; two cores, no pause",
            start: || between::<FdLock>(ON_TWO_CORES),
        },
        bar: None,
        ..HANDOFF
    },
    Cell {
        name: "file/handoff-dlf",
        about: "The hand-off by another crate, distributed-lock-file. Its waiters look for \
                themselves, at first after 10 ms: how late they are depends on how long it is held, \
                which here is as short as can be.",
        operations: 30,
        subject: Side {
            label: "distributed-lock-file: acquire, handle dropped; two cores, no pause",
            start: || between::<DistributedLockFile>(ON_TWO_CORES),
        },
        bar: None,
        ..HANDOFF
    },
    CROWD,
    Cell {
        name: "file/1000-waiters-fs4",
        about: "The same waiting by another crate: one thread for each who waits.",
        figures: &[crowd::THREADS, crowd::WAKE_UPS, crowd::PROCESSOR],
        subject: Side {
            label: "fs4: lock() in spawn_blocking",
            start: tries::waiting_untold::<Fs4>,
        },
        bar: None,
        ..CROWD
    },
    Cell {
        name: "file/1000-waiters-fd-lock",
        about: "The same waiting by another crate: one thread for each who waits.",
        figures: &[crowd::THREADS, crowd::WAKE_UPS, crowd::PROCESSOR],
        subject: Side {
            label: "fd-lock: write() in spawn_blocking",
            start: tries::waiting_untold::<FdLock>,
        },
        bar: None,
        ..CROWD
    },
    Cell {
        name: "file/1000-waiters-dlf",
        about: "The same waiting by another crate, distributed-lock-file: each looks for itself.",
        figures: &[crowd::THREADS, crowd::WAKE_UPS, crowd::PROCESSOR],
        subject: Side {
            label: "distributed-lock-file: acquire in each task",
            start: tries::waiting_untold::<DistributedLockFile>,
        },
        bar: None,
        ..CROWD
    },
];
