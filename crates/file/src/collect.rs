//! Removing the files of locks that nobody has used for a long time.
//!
//! Each under its own lock: whoever comes in between sees that its file is no longer in place.

use crate::{
    errors::refused,
    floor,
    locked::{How, Target},
    names::{is_gate, stem_of},
    place::Place,
    stamp,
    sys::{self, Access},
};
use lockwork_core::lock::{ErrorKind, Result, backend::keeper};
use std::{
    sync::{Arc, Weak},
    time::{Duration, SystemTime},
};

/// How often the directory is swept, at most and at least.
const SELDOM: Duration = Duration::from_secs(60 * 60);
const OFTEN: Duration = Duration::from_millis(50);

/// Sweeps the directory now and then, for as long as `place` is in use.
pub(crate) fn now_and_then(place: &Arc<Place>) -> tokio::task::AbortHandle {
    let (weak, idle) = (Arc::downgrade(place), place.options.idle);
    let interval = (idle / 4).clamp(OFTEN, SELDOM);
    let sweeping = keeper::spawn(async move {
        loop {
            let weak = weak.clone();
            // A thread where it may wait for the disk. At once, for a process may be short-lived.
            let _ = tokio::task::spawn_blocking(move || sweep_if_due(&weak, interval)).await;
            tokio::time::sleep(interval).await;
        }
    });
    sweeping.abort_handle()
}

fn sweep_if_due(place: &Weak<Place>, interval: Duration) {
    let Some(place) = place.upgrade() else {
        return;
    };
    let idle = place.options.idle;
    if !floor::exists(&place) && !anything_idle(&place, idle) {
        return;
    }
    let swept = floor::begin_sweep(&place, interval / 2)
        .and_then(|due| if due { sweep(&place, idle) } else { Ok(0) });
    if let Err(error) = swept {
        tracing::warn!(%error, "files of idle locks are not removed");
    }
}

/// Whether there is anything to remove. A directory without leftovers needs no file of its own.
fn anything_idle(place: &Place, idle: Duration) -> bool {
    let is_idle = |name: &Arc<str>| {
        let facts = sys::facts_at(&place.path().join(&**name));
        facts.is_ok_and(|facts| facts.is_some_and(|facts| is_idle(facts.modified, idle)))
    };
    place.list("").is_ok_and(|names| names.iter().any(is_idle))
}

/// Removes the files of locks idle for `idle`; of how many locks.
pub(crate) fn sweep(place: &Arc<Place>, idle: Duration) -> Result<usize> {
    if !sys::REMOVES {
        return Ok(0);
    }
    let mut names = place.list("")?;
    // The files of one lock come together, its gate last.
    names.sort_unstable_by(|one, other| order(one).cmp(&order(other)));
    let (mut files_left, mut locks_gone) = (names.len(), 0);
    let mut covered = 0;
    for files in names.chunk_by(|one, other| stem_of(one) == stem_of(other)) {
        match sweep_lock(place, files, idle, &mut covered) {
            Ok(removed) => {
                files_left -= removed;
                locks_gone += usize::from(removed == files.len());
            }
            // What is no lock file of ours stays, and the rest is swept all the same.
            Err(error) if error.kind() == ErrorKind::Invalid => {
                tracing::warn!(%error, "a file in the lock directory is left alone");
            }
            Err(error) => return Err(error),
        }
    }
    if files_left == 0 {
        floor::remove_if_idle(place, idle)?;
    }
    Ok(locks_gone)
}

/// Removes the files of one lock if none was used; how many. Its gate goes last and only if all
/// others went: holders have it open without locking it, to tell when they leave.
fn sweep_lock(
    place: &Arc<Place>,
    files: &[Arc<str>],
    idle: Duration,
    covered: &mut u64,
) -> Result<usize> {
    for name in files {
        let path = place.path().join(&**name);
        let facts = sys::facts_at(&path).map_err(|error| refused(error, &path))?;
        if facts.is_some_and(|facts| !is_idle(facts.modified, idle)) {
            return Ok(0);
        }
    }
    for (removed, name) in files.iter().enumerate() {
        if !remove_if_idle(place, name, idle, covered)? {
            return Ok(removed);
        }
    }
    Ok(files.len())
}

fn order(name: &str) -> (&str, bool) {
    (stem_of(name), is_gate(name))
}

/// Removes one file, if it is idle and nobody has it. `covered` is how high the floor is.
fn remove_if_idle(
    place: &Arc<Place>,
    name: &Arc<str>,
    idle: Duration,
    covered: &mut u64,
) -> Result<bool> {
    let path = place.path().join(&**name);
    let mut target = Target::existing(name.clone(), Access::Write);
    let Some(locked) = target.try_lock(place, How::Alone, None)? else {
        return Ok(false);
    };
    let opened = locked.opened();
    // Taken and given back since we looked, it is in use.
    let modified = opened.file.metadata().and_then(|now| now.modified());
    if !is_idle(modified.map_err(|error| refused(error, &path))?, idle) {
        return Ok(false);
    }
    let last = stamp::read(opened)?.last_number();
    if last > *covered {
        *covered = last.max(stamp::now());
        floor::raise(place, *covered)?;
    }
    opened.remove()?;
    Ok(true)
}

fn is_idle(modified: SystemTime, idle: Duration) -> bool {
    // A file from the future is as good as new.
    let age = SystemTime::now().duration_since(modified);
    age.is_ok_and(|age| age >= idle)
}
