//! A thousand tasks of one process waiting for a file that another process has locked.

use crate::{
    cell::{Figure, Fold, Outcome, Turns, Unit},
    cells::{
        crowd::{Crowd, Crowded, Seen},
        directory, everything_on_one_thread,
    },
};
use std::{
    fs,
    path::Path,
    thread::sleep,
    time::{Duration, Instant},
};

pub(super) const TRIES: Figure = Figure {
    name: "tries a second",
    unit: Unit::Count,
    over_rounds: Fold::Max,
};

/// How long a thousand are left alone before anybody looks, and how long they are looked at.
const ALONE: Duration = Duration::from_secs(2);
const LOOK: Duration = Duration::from_secs(3);
const LOOK_PAUSE: Duration = Duration::from_millis(1);

/// Lets so many wait as there are operations, in a process of their own.
pub(super) fn waiting<K: Crowded>() -> Outcome<Turns> {
    watching::<K>(|seen, tries| vec![seen.threads, tries, seen.wake_ups, seen.processor])
}

/// The same without the tries, which leave no trace.
pub(super) fn waiting_untold<K: Crowded>() -> Outcome<Turns> {
    watching::<K>(|seen, _| vec![seen.threads, seen.wake_ups, seen.processor])
}

fn watching<K: Crowded>(figures: fn(Seen, f64) -> Vec<f64>) -> Outcome<Turns> {
    let (runtime, directory) = (everything_on_one_thread()?, directory()?);
    let lock = runtime.block_on(K::in_directory(directory.path()))?;
    let held = runtime.block_on(lock.take())?;
    Ok(Box::new(move |waiters| {
        let _until_now = (&held, &runtime);
        let crowd = Crowd::start::<K>(directory.path(), waiters)?;
        let of_a_thousand = waiters as f64 / 1_000.0;
        sleep(ALONE.mul_f64(of_a_thousand));
        let (seen, tries) =
            crowd.watch(|| changes(directory.path(), LOOK.mul_f64(of_a_thousand)))?;
        let tries = tries as f64 / seen.seconds;
        Ok(figures(seen, tries))
    }))
}

/// How often the files of `directory` change within `time`.
fn changes(directory: &Path, time: Duration) -> Outcome<u64> {
    let newest = || {
        let files = fs::read_dir(directory)?;
        let times = files.map(|file| file?.metadata()?.modified());
        let newest = times.reduce(|one, other| Ok(one?.max(other?)));
        newest.transpose()
    };
    let (end, mut changes, mut before) = (Instant::now() + time, 0, newest()?);
    while Instant::now() < end {
        sleep(LOOK_PAUSE);
        let after = newest()?;
        changes += u64::from(after != before);
        before = after;
    }
    Ok(changes)
}
