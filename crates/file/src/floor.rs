//! The number below which no new lock file begins.
//!
//! When the file of an idle lock is removed, its last number goes with it. A new file begins at the
//! clock, which is above that, unless the clock is set back. So the highest number that was removed
//! is kept in one small file of the directory, and on the disk before anything is removed.

use crate::{
    errors::refused,
    locked::{How, Locked, Target},
    machine::machine,
    place::Place,
    record::Record,
    stamp,
    sys::{self, Access},
};
use lockwork_core::lock::{Error, ErrorKind, Mode, OwnerId, Result};
use std::{
    sync::Arc,
    time::{Duration, Instant, SystemTime},
};

/// The file's name: not that of any lock.
pub(crate) const NAME: &str = ".lockwork";

/// How long somebody else may be at it.
const PATIENCE: Duration = Duration::from_secs(5);

/// The floor; zero if there is none.
pub(crate) fn read(place: &Place) -> Result<u64> {
    let Some(opened) = place.open_existing(&NAME.into(), Access::Read)? else {
        return Ok(0);
    };
    Ok(stamp::read(&opened)?.last_number())
}

/// Whether there is a floor's file, with a floor in it or not.
pub(crate) fn exists(place: &Place) -> bool {
    sys::facts_at(&place.path().join(NAME)).is_ok_and(|there| there.is_some())
}

/// The floor, which stays as it is until what comes with it is dropped; `None` if somebody is just
/// raising it.
pub(crate) fn stand_on(place: &Arc<Place>) -> Result<Option<(u64, Option<Locked>)>> {
    let mut floor = Target::existing(NAME.into(), Access::Read);
    match floor.try_lock(place, How::WithOthers, None)? {
        Some(locked) => {
            let floor = stamp::read(locked.opened())?.last_number();
            Ok(Some((floor, Some(locked))))
        }
        None if exists(place) => Ok(None),
        // Whoever makes one raises it above the clock first.
        None => Ok(Some((0, None))),
    }
}

/// Raises the floor to `to` at least, on the disk. May wait: not for the executor.
pub(crate) fn raise(place: &Arc<Place>, to: u64) -> Result<()> {
    if read(place)? >= to {
        return Ok(());
    }
    raise_locked(place, &lock(place)?, to)
}

/// The same by whoever has locked it.
pub(crate) fn raise_locked(place: &Arc<Place>, locked: &Locked, to: u64) -> Result<()> {
    let opened = locked.opened();
    let page = stamp::read(opened)?;
    if page.last_number() >= to {
        return Ok(());
    }
    let record = Record {
        counter: to,
        ceiling: to,
        boot: machine().boot,
        client: place.client,
        owner: OwnerId::from_bytes([0; 16]),
        mode: Mode::Exclusive,
        process: std::process::id(),
        process_space: machine().process_space,
        since: stamp::now(),
        host: machine().host.clone(),
    };
    let refused = |error| refused(error, &opened.path);
    sys::write_at(&opened.file, &record.encode(), page.next_slot()).map_err(refused)?;
    opened.file.sync_data().map_err(refused)?;
    sys::sync_directory(&place.current().directory).map_err(refused)
}

/// Whether nobody has swept the directory for `interval`; from now on, somebody has.
pub(crate) fn begin_sweep(place: &Arc<Place>, interval: Duration) -> Result<bool> {
    let locked = lock(place)?;
    let opened = locked.opened();
    // One that was only just made says that nothing here is old.
    let age = SystemTime::now().duration_since(opened.facts.modified);
    if age.is_ok_and(|age| age < interval) {
        return Ok(false);
    }
    opened
        .file
        .set_modified(SystemTime::now())
        .map_err(|error| refused(error, &opened.path))?;
    Ok(true)
}

/// Removes the floor if it is `idle` old, for then the clock is above it anyway.
pub(crate) fn remove_if_idle(place: &Arc<Place>, idle: Duration) -> Result<()> {
    let Some(locked) = try_lock(place)? else {
        return Ok(());
    };
    let opened = locked.opened();
    let floor = stamp::read(opened)?.last_number();
    let idle = u64::try_from(idle.as_millis()).unwrap_or(u64::MAX);
    if stamp::now() <= floor.saturating_add(idle) {
        return Ok(());
    }
    opened.remove()
}

/// Keeps everybody else from raising the floor, and from beginning a file on it. May wait: not for
/// the executor.
pub(crate) fn lock(place: &Arc<Place>) -> Result<Locked> {
    let start = Instant::now();
    loop {
        if let Some(locked) = try_lock(place)? {
            return Ok(locked);
        }
        if start.elapsed() > PATIENCE {
            let message = "somebody keeps the directory's own file locked: see who (lslocks)";
            return Err(Error::new(ErrorKind::Unavailable, message)
                .with("path", place.path().join(NAME).display()));
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

fn try_lock(place: &Arc<Place>) -> Result<Option<Locked>> {
    Target::new(NAME.into(), Access::Write).try_lock(place, How::Alone, None)
}
