//! Who holds a lock: the kernel knows which files are locked, the records say by whom.

use crate::{
    kernel::{Kernel, Lock},
    locked::{self, How},
    machine::machine,
    names::{self, Names, Shown},
    place::{Opened, Place},
    record::Record,
    stamp,
    sys::{self, Access},
};
use lockwork_core::lock::{
    ErrorKind, Held, Holder, Holders, LockId, Mode, OwnerId, Result, Space, Token,
};
use std::sync::Arc;

pub(crate) fn of(place: &Arc<Place>, id: &LockId) -> Result<Holders> {
    let mut files = Vec::new();
    for name in self::files(place, id)? {
        files.extend(place.open_existing(&name, Access::Read)?);
    }
    let identities: Vec<_> = files.iter().map(|opened| opened.facts.identity).collect();
    let kernel = Kernel::ask(place, &identities)?;
    told(&kernel, id.space, files)
}

/// Who holds the lock in `space` that has these files.
fn told(kernel: &Kernel, space: Space, files: Vec<Opened>) -> Result<Holders> {
    let mut holders = Vec::new();
    for opened in files {
        let record = stamp::read(&opened)?.newest().cloned();
        for lock in locks_on(kernel, &opened, record.as_ref())? {
            holders.extend(holder(
                lock,
                record.as_ref(),
                signed_by(space, &opened.name),
            ));
        }
    }
    // A writer has two files and is one holder.
    if holders.iter().any(|holder| holder.mode == Mode::Write) {
        holders.retain(|holder| holder.mode == Mode::Write);
        holders.truncate(1);
    }
    Ok(Holders::new(holders, Vec::new()))
}

/// Which locks are held whose names begin so, or may.
pub(crate) fn all(place: &Arc<Place>, beginning: &str) -> Result<Vec<Held>> {
    let mut files = place.list("")?;
    files.retain(|name| !names::is_gate(name));
    // The files of one lock come together; its intent before its main file, as `files` has them.
    files.sort_unstable();
    let identities = files.iter().filter_map(|name| {
        let there = sys::identity_at(&place.path().join(&**name));
        there.ok().flatten()
    });
    let identities: Vec<_> = identities.collect();
    if identities.is_empty() {
        return Ok(Vec::new());
    }
    // Once for all: it is a long table.
    let kernel = Kernel::ask(place, &identities)?;
    let mut all = Vec::new();
    for files in files.chunk_by(|one, other| names::stem_of(one) == names::stem_of(other)) {
        let shown = Shown::in_stem(names::stem_of(&files[0]));
        let Some(shown) = shown.filter(|shown| shown.may_begin_with(beginning)) else {
            continue;
        };
        match of_files(place, &kernel, &shown, files) {
            Ok(holders) if holders.holders.is_empty() => {}
            Ok(holders) => all.push(held(shown, holders)),
            // What is no lock file of ours hides no other.
            Err(error) if error.kind() == ErrorKind::Invalid => {
                tracing::warn!(%error, "a file in the lock directory is left out");
            }
            Err(error) => return Err(error),
        }
    }
    Ok(all)
}

fn of_files(
    place: &Arc<Place>,
    kernel: &Kernel,
    shown: &Shown,
    files: &[Arc<str>],
) -> Result<Holders> {
    let opened = files
        .iter()
        .map(|name| place.open_existing(name, Access::Read));
    let opened = opened
        .filter_map(Result::transpose)
        .collect::<Result<_>>()?;
    told(kernel, shown.space, opened)
}

fn held(shown: Shown, holders: Holders) -> Held {
    match shown.is_whole {
        true => Held::whole(shown.space, shown.name, holders),
        false => Held::beginning(shown.space, shown.name, holders),
    }
}

/// The files that are held by whoever holds the lock. Gates are only passed. In the order in which
/// to take them away: a writer who waits has the intent, and must not get in before it is gone.
pub(crate) fn files(place: &Place, id: &LockId) -> Result<Vec<Arc<str>>> {
    let names = Names::of(id);
    Ok(match id.space {
        Space::Mutex => vec![names.main()],
        Space::RwLock => vec![names.intent(), names.main()],
        _ => {
            let gate = names.gate();
            let mut permits = place.list(names.stem())?;
            permits.retain(|name| *name != gate);
            permits
        }
    })
}

fn locks_on(kernel: &Kernel, opened: &Opened, record: Option<&Record>) -> Result<Vec<Lock>> {
    let known = kernel.on(opened.facts.identity);
    // A process in another name space of process ids is hidden from us; a try tells. Only then,
    // for it is in the way of others' tries while it lasts.
    let elsewhere = |record: &&Record| record.process_space != machine().process_space;
    let hidden = record.filter(elsewhere).is_some();
    if known.is_empty()
        && (hidden || !kernel.tells())
        && !locked::try_lock(opened, How::WithOthers)?
    {
        return Ok(vec![Lock {
            alone: true,
            process: None,
        }]);
    }
    Ok(known)
}

/// Which mode's holder signs a file.
fn signed_by(space: Space, name: &str) -> fn(Mode) -> bool {
    match space {
        Space::Mutex => |mode| mode == Mode::Exclusive,
        // A writer who still waits has the intent, and is told by nothing else.
        Space::RwLock if names::is_intent(name) => |mode| mode == Mode::Upgradeable,
        Space::RwLock => |mode| mode == Mode::Write,
        _ => |mode| matches!(mode, Mode::Permit { .. }),
    }
}

fn holder(lock: Lock, record: Option<&Record>, signed: fn(Mode) -> bool) -> Option<Holder> {
    if !lock.alone {
        return Some(reader(lock));
    }
    let record = record.filter(|record| signed(record.mode))?;
    // Whoever has locked the file and not yet signed it is on its way in, or waits.
    if lock
        .process
        .is_some_and(|process| process != record.process)
    {
        return None;
    }
    let mut holder = Holder::new(record.owner, record.mode);
    holder.token = record
        .mode
        .has_token()
        .then(|| Token::from_server(record.counter))
        .flatten();
    holder.since = Some(record.taken_at());
    holder.client = Some(match record.host.as_str() {
        "" => format!("process {}", record.process),
        host => format!("{host}, process {}", record.process),
    });
    Some(holder)
}

/// Readers sign nothing: several have the file at once. The kernel knows their process.
fn reader(lock: Lock) -> Holder {
    let mut owner = [0; 16];
    owner[..4].copy_from_slice(&lock.process.unwrap_or(0).to_be_bytes());
    let mut holder = Holder::new(OwnerId::from_bytes(owner), Mode::Read);
    holder.client = lock.process.map(|process| format!("process {process}"));
    holder
}
