//! Taking a lock away from everybody: its files are removed, and whoever comes makes new ones.

use crate::{
    floor, holders,
    locked::Locked,
    names::Names,
    place::{Opened, Place},
    stamp,
    sys::{self, Access},
};
use lockwork_core::lock::{Error, ErrorKind, LockId, Result, Space};
use std::sync::Arc;

/// So many grants may be made between looking at the last number and removing the file.
const MARGIN: u64 = 1 << 16;

/// Breaks `id`; how many held it.
pub(crate) fn break_lock(place: &Arc<Place>, id: &LockId) -> Result<usize> {
    if !sys::REMOVES {
        let message = "file locks cannot be broken on this system: end the process that holds it";
        return Err(Error::new(ErrorKind::Unsupported, message));
    }
    let held = holders::of(place, id)?.holders.len();
    let floor = floor::lock(place)?;
    for name in holders::files(place, id)? {
        if let Some(opened) = place.open_existing(&name, Access::Read)? {
            remove(place, &floor, &opened)?;
        }
    }
    drop(floor);
    if id.space == Space::Semaphore {
        // Who waits for a permit watches the gate: closing it says that there is one.
        drop(place.open_existing(&Names::of(id).gate(), Access::Write)?);
    }
    // Ours need not wait to be told.
    place.check_all();
    Ok(held)
}

/// Removes a file that somebody may hold. The next one of its name begins above its numbers: nobody
/// begins one while the floor is locked, and whoever has this one can only count on from its last.
fn remove(place: &Arc<Place>, floor: &Locked, opened: &Opened) -> Result<()> {
    let next = stamp::read(opened)?.last_number().max(stamp::now());
    floor::raise_locked(place, floor, next + MARGIN)?;
    opened.remove()
}
