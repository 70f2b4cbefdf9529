//! Thousands of locks in one process's hands: a process that does nothing else, so that its memory
//! tells.

use super::server;
use crate::{
    cell::{Figure, Fold, Outcome, Turns, Unit},
    cells::{
        Role, everything_on_one_thread,
        served::{address_in, directory_of, name},
    },
    process::{Line, Other},
};
use lockwork::{Guard, Locks, backend::keeper};
use std::{
    fs,
    ops::Range,
    path::Path,
    thread::sleep,
    time::{Duration, Instant},
};
use tokio::task::JoinSet;

/// From before the first is asked for to after the last is had.
pub(super) const ALL: Figure = Figure {
    name: "all",
    unit: Unit::Nanoseconds,
    over_rounds: Fold::Median,
};

/// As the server counts them, while all are held.
pub(super) const CONNECTIONS: Figure = Figure {
    name: "connections",
    unit: Unit::Count,
    over_rounds: Fold::Max,
};

/// On the keeper.
pub(super) const TASKS: Figure = Figure {
    name: "tasks",
    unit: Unit::Count,
    over_rounds: Fold::Max,
};

/// To renew each of them once.
pub(super) const CALLS: Figure = Figure {
    name: "calls to renew all",
    unit: Unit::Count,
    over_rounds: Fold::Max,
};

/// What stays in memory for each.
pub(super) const MEMORY: Figure = Figure {
    name: "bytes each",
    unit: Unit::Count,
    over_rounds: Fold::Median,
};

pub(super) const ROLE: Role = Role {
    name: "held-redis",
    play,
};

/// Short, so that a turn has all of them renewed.
const LEASE: &str = "?lease=3s";

/// Holds as many locks as there are operations.
pub(super) fn at_once() -> Outcome<Turns> {
    let directory = directory_of(&(server::url()? + LEASE))?;
    Ok(Box::new(move |operations| {
        let (process, mut line) = Other::start(ROLE.name, directory.path())?;
        line.say(operations)?;
        let (all, tasks) = (line.hear()?, line.hear()?);
        let connections = server::connections_of(process.id())?;
        let calls = calls_of_a_round()?;
        line.say(operations)?;
        let memory = line.hear()? as f64 / operations as f64;
        // All are given back.
        line.hear()?;
        let counted = [all, connections, tasks, calls].map(|number| number as f64);
        Ok([&counted[..], &[memory]].concat())
    }))
}

/// Takes as many as it is told, and then as many again: what their tasks needed in passing is there
/// already, so that memory grows by what is kept for a lock.
fn play(directory: &Path, mut line: Line) -> Outcome<()> {
    let url = address_in(directory)?;
    everything_on_one_thread()?.block_on(async {
        let locks = lockwork::connect(&url).await?;
        let first = line.hear()?;
        let begun = Instant::now();
        let mut held = take(&locks, 0..first).await?;
        line.say(u64::try_from(begun.elapsed().as_nanos())?)?;
        line.say(keeper::tasks() as u64)?;
        // The keeper has a thread of its own: it renews them meanwhile.
        let second = line.hear()?;
        let before = resident()?;
        held.extend(take(&locks, first..first + second).await?);
        line.say(resident()?.saturating_sub(before))?;
        // The next turn is about the same names.
        drop(held);
        locks.close().await;
        Ok(line.say(0)?)
    })
}

async fn take(locks: &Locks, numbers: Range<u64>) -> Outcome<Vec<Guard>> {
    let mut tasks = JoinSet::new();
    for number in numbers {
        let mutex = locks.mutex(name(number));
        tasks.spawn(async move { mutex.lock().await });
    }
    let held = tasks.join_all().await;
    Ok(held.into_iter().collect::<Result<Vec<_>, _>>()?)
}

/// How much of this process is in memory, in bytes.
fn resident() -> Outcome<u64> {
    let table = fs::read_to_string("/proc/self/status")?;
    let line = table.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kilobytes = line.and_then(|line| line.split_whitespace().next());
    let kilobytes = kilobytes.ok_or("/proc does not tell how much memory is used here")?;
    Ok(kilobytes.parse::<u64>()? * 1024)
}

/// After this long without a call a round is over: those of a round follow each other at once.
const QUIET: Duration = Duration::from_millis(200);
const LOOK_PAUSE: Duration = Duration::from_millis(10);
const PATIENCE: Duration = Duration::from_secs(10);

/// The next round of renewals, from one quiet time to the next.
fn calls_of_a_round() -> Outcome<u64> {
    let begun = Instant::now();
    let before = quiet_after(None, begun)?;
    Ok(quiet_after(Some(before), begun)? - before)
}

/// The number of calls once it has not changed for a while, and is not `before` any more.
fn quiet_after(before: Option<u64>, begun: Instant) -> Outcome<u64> {
    let (mut last, mut since) = (server::calls()?, Instant::now());
    while since.elapsed() < QUIET || before == Some(last) {
        if begun.elapsed() > PATIENCE {
            return Err("renewals do not come in rounds".into());
        }
        sleep(LOOK_PAUSE);
        let calls = server::calls()?;
        if calls != last {
            (last, since) = (calls, Instant::now());
        }
    }
    Ok(last)
}
