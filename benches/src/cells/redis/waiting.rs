//! A thousand tasks of one process waiting for a lock that another process holds.

use super::server;
use crate::{
    cell::{Figure, Fold, Outcome, Turns, Unit},
    cells::{
        crowd::Crowd,
        everything_on_one_thread,
        handoff::Kind as _,
        served::{Lockwork, directory_of},
    },
};
use std::{thread::sleep, time::Duration};

/// How many of them the server knows.
pub(super) const AT_SERVER: Figure = Figure {
    name: "waiting at the server",
    unit: Unit::Count,
    over_rounds: Fold::Max,
};

pub(super) const CALLS: Figure = Figure {
    name: "calls a second",
    unit: Unit::Count,
    over_rounds: Fold::Max,
};

/// How long a thousand are left alone before anybody looks, and how long they are looked at.
const ALONE: Duration = Duration::from_secs(2);
const LOOK: Duration = Duration::from_secs(5);

/// Lets so many wait as there are operations, in a process of their own.
pub(super) fn behind_another() -> Outcome<Turns> {
    let (runtime, directory) = (everything_on_one_thread()?, directory_of(&server::url()?)?);
    let lock = runtime.block_on(Lockwork::in_directory(directory.path()))?;
    let held = runtime.block_on(lock.take())?;
    Ok(Box::new(move |waiters| {
        let _until_now = &held;
        let crowd = Crowd::start::<Lockwork>(directory.path(), waiters)?;
        let of_a_thousand = waiters as f64 / 1_000.0;
        sleep(ALONE.mul_f64(of_a_thousand));
        let (seen, calls) = crowd.watch(|| calls_within(LOOK.mul_f64(of_a_thousand)))?;
        let waiting = runtime.block_on(lock.0.holders())?.waiting.len();
        let calls = calls as f64 / seen.seconds;
        Ok(vec![waiting as f64, calls, seen.processor, seen.wake_ups])
    }))
}

fn calls_within(time: Duration) -> Outcome<u64> {
    let before = server::calls()?;
    sleep(time);
    Ok(server::calls()? - before)
}
