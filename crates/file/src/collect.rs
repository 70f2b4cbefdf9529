//! Removing the files of locks that nobody has used for a long time.
//!
//! Each under its own lock: whoever comes in between sees that its file is no longer in place.

use crate::{
    errors::refused,
    floor,
    locked::{How, Target},
    names,
    place::Place,
    stamp,
    sys::{self, Access},
};
use lockwork_core::lock::{ErrorKind, Result, backend::keeper};
use std::{
    collections::HashSet,
    io,
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
            tokio::time::sleep(interval).await;
            let weak = weak.clone();
            // A thread where it may wait for the disk.
            let _ = tokio::task::spawn_blocking(move || sweep_if_due(&weak, interval)).await;
        }
    });
    sweeping.abort_handle()
}

fn sweep_if_due(place: &Weak<Place>, interval: Duration) {
    let Some(place) = place.upgrade() else {
        return;
    };
    let idle = place.options.idle;
    if place.list("").is_ok_and(|names| names.is_empty()) && !floor::exists(&place) {
        return;
    }
    let swept = floor::begin_sweep(&place, interval / 2)
        .and_then(|due| if due { sweep(&place, idle) } else { Ok(0) });
    if let Err(error) = swept {
        tracing::warn!(%error, "files of idle locks are not removed");
    }
}

/// Removes the files of locks idle for `idle`; how many.
pub(crate) fn sweep(place: &Arc<Place>, idle: Duration) -> Result<usize> {
    let mut names = place.list("")?;
    // A gate goes after all else of its lock: whoever has a permit tells by it that it is given
    // back.
    names.sort_by_key(|name| names::is_gate(name));
    let mut in_use = HashSet::new();
    let mut left = names.len();
    let mut covered = 0;
    for name in &names {
        if names::is_gate(name) && in_use.contains(names::stem_of(name)) {
            continue;
        }
        match remove_if_idle(place, name, idle, &mut covered) {
            Ok(true) => left -= 1,
            Ok(false) => {
                in_use.insert(names::stem_of(name));
            }
            // What is no lock file of ours stays, and the rest is swept all the same.
            Err(error) if error.kind() == ErrorKind::Invalid => {
                tracing::warn!(%error, "a file in the lock directory is left alone");
            }
            Err(error) => return Err(error),
        }
    }
    if left == 0 {
        floor::remove_if_idle(place, idle)?;
    }
    Ok(names.len() - left)
}

/// Removes one file, if it is idle and nobody has it. `covered` is how high the floor is.
fn remove_if_idle(
    place: &Arc<Place>,
    name: &Arc<str>,
    idle: Duration,
    covered: &mut u64,
) -> Result<bool> {
    let path = place.path().join(&**name);
    let facts = sys::facts_at(&path).map_err(|error| refused(error, &path))?;
    // What is no lock file is not ours to remove.
    let ours = facts.is_some_and(|facts| facts.regular && is_idle(facts.modified, idle));
    if !ours {
        return Ok(false);
    }
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
    let last = stamp::read(opened)?.newest().map_or(0, |r| r.counter);
    if last > *covered {
        *covered = last.max(stamp::now());
        floor::raise(place, *covered)?;
    }
    match place.current().directory.remove(name) {
        // Somebody removed it without asking.
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        removed => removed.map(|()| true).map_err(|e| refused(e, &path)),
    }
}

fn is_idle(modified: SystemTime, idle: Duration) -> bool {
    // A file from the future is as good as new.
    let age = SystemTime::now().duration_since(modified);
    age.is_ok_and(|age| age >= idle)
}
