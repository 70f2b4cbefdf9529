//! Taking a lock away from everybody: its files are removed, and whoever comes makes new ones.

use crate::{
    errors::refused,
    floor, holders,
    locked::{self, How},
    names::Names,
    place::{Opened, Place},
    stamp,
    sys::Access,
};
use lockwork_core::lock::{LockId, Result, Space};
use std::{
    io,
    sync::Arc,
    time::{Duration, Instant},
};

/// So many grants may be made between looking at the last number and removing the file.
const MARGIN: u64 = 1 << 16;

/// Breaks `id`; how many held it.
pub(crate) fn break_lock(place: &Arc<Place>, id: &LockId) -> Result<usize> {
    let held = holders::of(place, id)?.holders.len();
    for name in holders::files(place, id)? {
        if let Some(opened) = place.open_existing(&name, Access::Read)? {
            remove(place, &opened)?;
        }
    }
    if id.space == Space::Semaphore {
        // Who waits for a permit watches the gate: closing it says that there is one.
        drop(place.open_existing(&Names::of(id).gate(), Access::Write)?);
    }
    // Ours need not wait to be told.
    place.check_all();
    Ok(held)
}

/// How long whoever has locked a new file may take to sign it: microseconds, unless it was stopped.
const SIGNING: Duration = Duration::from_millis(100);

/// Removes a file that somebody may hold. The next one of its name begins above its numbers.
fn remove(place: &Arc<Place>, opened: &Opened) -> Result<()> {
    wait_until_signed(opened)?;
    // Whoever has just locked it may be about to write the clock's number.
    floor::raise(place, last(opened)?.max(stamp::now()) + MARGIN)?;
    match place.current().directory.remove(&opened.name) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            return Err(refused(error, &opened.path));
        }
        _ => {}
    }
    // From here on nobody is granted anything in it: they see that it is not in place.
    floor::raise(place, last(opened)? + 1)
}

/// Waits until `opened` has a number, or locks it so that it gets none. The first number of a file
/// is the one above the floor: raised before it is known, the floor would be no higher.
fn wait_until_signed(opened: &Opened) -> Result<()> {
    let start = Instant::now();
    while stamp::read(opened)?.newest().is_none() && !locked::try_lock(opened, How::Alone)? {
        if start.elapsed() > SIGNING {
            // It will see that its file is not in place.
            break;
        }
        std::thread::sleep(Duration::from_micros(100));
    }
    Ok(())
}

fn last(opened: &Opened) -> Result<u64> {
    let page = stamp::read(opened)?;
    Ok(page.newest().map_or(0, |record| record.counter))
}
