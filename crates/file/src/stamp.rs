//! Reading a locked file's record and writing the next one.

use crate::{
    counter,
    errors::{refused, strange},
    floor,
    locked::Locked,
    machine::machine,
    place::{Opened, Place},
    record::{MARK, PAGE, Page, Record},
    sys, watch,
};
use lockwork_core::lock::{Error, ErrorKind, Mode, OwnerId, Result, Token};
use std::{
    sync::Arc,
    time::{SystemTime, UNIX_EPOCH},
};

/// Who takes a lock.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Who {
    pub(crate) owner: OwnerId,
    pub(crate) mode: Mode,
}

/// A record that was written.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stamp {
    pub(crate) token: Token,
    /// Whether it must be on the disk before the token is given out.
    pub(crate) sync: bool,
}

/// What `opened` says.
pub(crate) fn read(opened: &Opened) -> Result<Page> {
    let mut bytes = [0; PAGE];
    let length = sys::read_at(&opened.file, &mut bytes, 0).map_err(|e| refused(e, &opened.path))?;
    Page::read(&bytes[..length]).map_err(|_| {
        strange(
            "this file does not hold a lock's record, or it is damaged: see whose it is; if it is \
             a lock file nobody uses, remove it",
            &opened.path,
        )
    })
}

/// Writes into `locked`, which said `page`, that `who` has taken it; `None` if it is new and was
/// taken away meanwhile, or somebody is just raising the floor it would begin on.
pub(crate) fn write(
    place: &Arc<Place>,
    locked: &Locked,
    page: &Page,
    who: Who,
) -> Result<Option<Stamp>> {
    let opened = locked.opened();
    if page.newest().is_some() {
        return write_above(place, locked, page, who, 0).map(Some);
    }
    let Some((floor, standing)) = floor::stand_on(place)? else {
        return Ok(None);
    };
    let floor = floor.max(watch::highest(&opened.path));
    let stamp = write_above(place, locked, page, who, floor)?;
    // Taken away before we stood on the floor, its number may be the next one's too.
    let in_place = place.is_in_place(opened)?;
    drop(standing);
    Ok(in_place.then_some(stamp))
}

fn write_above(place: &Place, locked: &Locked, page: &Page, who: Who, floor: u64) -> Result<Stamp> {
    let (opened, last) = (locked.opened(), page.newest());
    let (machine, now) = (machine(), now());
    let next = counter::next(last, floor, now, machine.boot);
    let token = Token::from_server(next.counter).ok_or_else(|| {
        let message = "the clock or the lock's record is thousands of years ahead: set the clock \
                       and remove the lock's file";
        Error::new(ErrorKind::Unexpected, message).with("path", opened.path.display())
    })?;
    let record = Record {
        counter: next.counter,
        ceiling: next.ceiling,
        boot: machine.boot,
        client: place.client,
        owner: who.owner,
        mode: who.mode,
        process: std::process::id(),
        process_space: machine.process_space,
        since: now,
        host: machine.host.clone(),
    };
    sys::write_at(&opened.file, &record.encode(), page.next_slot())
        .map_err(|e| refused(e, &opened.path))?;
    locked.numbered(next.counter);
    Ok(Stamp {
        token,
        sync: next.sync,
    })
}

/// Leaves the mark in `opened` that somebody waits, or removes it. Needs no lock: it is a wish.
pub(crate) fn mark(opened: &Opened, someone_waits: bool) {
    let mark = u64::from(someone_waits).to_le_bytes();
    if let Err(error) = sys::write_at(&opened.file, &mark, MARK as u64) {
        tracing::debug!(%error, path = %opened.path.display(), "the mark of a waiter was not left");
    }
}

/// Milliseconds since 1970.
pub(crate) fn now() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    now.map_or(0, |now| u64::try_from(now.as_millis()).unwrap_or(u64::MAX))
}
