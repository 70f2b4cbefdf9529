//! Who holds which file, to be told when that file is taken away.

use crate::sys::{self, Identity};
use lockwork_core::lock::{Loss, LossSignal};
use std::{
    collections::HashMap,
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU8, AtomicU64, Ordering},
    },
};

/// The files this client holds.
#[derive(Clone, Debug)]
pub(crate) struct Holds(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    directory: PathBuf,
    held: Mutex<Held>,
}

#[derive(Debug, Default)]
struct Held {
    by_name: HashMap<Arc<str>, Vec<Holding>>,
    numbers: u64,
}

#[derive(Clone, Debug)]
struct Holding {
    number: u64,
    identity: Identity,
    signal: LossSignal,
    status: Arc<Status>,
}

#[derive(Debug, Default)]
struct Status {
    /// The number it was given, once it was.
    counter: AtomicU64,
    /// One of the three below.
    stage: AtomicU8,
}

/// Locked, and not yet seen to be in place: nobody relies on it.
const CANDIDATE: u8 = 0;
const HELD: u8 = 1;
/// Taken away before anybody relied on it.
const MISSED: u8 = 2;

impl Status {
    fn becomes(&self, stage: u8) -> bool {
        let swapped =
            self.stage
                .compare_exchange(CANDIDATE, stage, Ordering::AcqRel, Ordering::Acquire);
        swapped.is_ok()
    }

    fn is_held(&self) -> bool {
        self.stage.load(Ordering::Acquire) == HELD
    }
}

impl Holds {
    pub(crate) fn new(directory: PathBuf) -> Self {
        Self(Arc::new(Inner {
            directory,
            held: Mutex::default(),
        }))
    }

    /// From now on, sees whether `name` leads to the file of this identity. Look once yourself
    /// afterwards, for it may have been taken away before, and then [settle](Entry::settle) it:
    /// `signal` is told of what happens later.
    pub(crate) fn enter(&self, name: &Arc<str>, identity: Identity, signal: LossSignal) -> Entry {
        let mut held = self.0.held();
        held.numbers += 1;
        let number = held.numbers;
        let status = Arc::<Status>::default();
        held.by_name.entry(name.clone()).or_default().push(Holding {
            number,
            identity,
            signal,
            status: status.clone(),
        });
        Entry {
            holds: self.clone(),
            name: name.clone(),
            number,
            status,
        }
    }

    /// The highest number with which the file at `path` is held, though it may have been taken away.
    pub(crate) fn highest(&self, path: &Path) -> u64 {
        if path.parent() != Some(&self.0.directory) {
            return 0;
        }
        let held = self.0.held();
        let name = path.file_name().and_then(|name| name.to_str());
        let holding = name.and_then(|name| held.by_name.get(name));
        let numbers = holding.into_iter().flatten();
        let numbers = numbers.map(|holding| holding.status.counter.load(Ordering::Relaxed));
        numbers.max().unwrap_or(0)
    }

    /// Looks whether the file `name` is still the one that is held; whether anybody was told.
    pub(crate) fn check(&self, name: &str) -> bool {
        let holding = self.0.held().by_name.get(name).cloned();
        holding.is_some_and(|holding| self.0.compare(name, &holding))
    }

    /// Looks at everything that is held; whether anybody was told.
    pub(crate) fn check_all(&self) -> bool {
        let names: Vec<_> = self.0.held().by_name.keys().cloned().collect();
        let told = names.iter().filter(|name| self.check(name));
        told.count() > 0
    }
}

impl Inner {
    fn compare(&self, name: &str, holding: &[Holding]) -> bool {
        let Ok(there) = sys::identity_at(&self.directory.join(name)) else {
            // Not an answer; the next look may bring one.
            return false;
        };
        let gone = |holding: &&Holding| Some(holding.identity) != there;
        let gone = holding.iter().filter(gone);
        // A candidate's signal may be told of another file that its owner holds, or will.
        let lost = |holding: &&Holding| !holding.status.becomes(MISSED) && holding.status.is_held();
        let gone: Vec<_> = gone.filter(lost).collect();
        for holding in &gone {
            holding.signal.lose(Loss::Taken);
        }
        !gone.is_empty()
    }

    fn held(&self) -> MutexGuard<'_, Held> {
        // Nothing that can panic runs under this lock.
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Somebody holds a file for as long as this exists.
#[derive(Debug)]
pub(crate) struct Entry {
    holds: Holds,
    name: Arc<str>,
    number: u64,
    status: Arc<Status>,
}

impl Entry {
    /// It was seen in place, and its owner relies on it from now on; `false` if it was taken away
    /// meanwhile.
    pub(crate) fn settle(&self) -> bool {
        self.status.becomes(HELD)
    }

    pub(crate) fn numbered(&self, counter: u64) {
        self.status.counter.store(counter, Ordering::Relaxed);
    }
}

impl Drop for Entry {
    fn drop(&mut self) {
        let mut held = self.holds.0.held();
        let Some(holding) = held.by_name.get_mut(&self.name) else {
            return;
        };
        holding.retain(|holding| holding.number != self.number);
        if holding.is_empty() {
            held.by_name.remove(&self.name);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lockwork_core::lock::Lost;

    fn entered(holds: &Holds, name: &str) -> (Entry, Lost) {
        let identity = Identity {
            device: 1,
            inode: 1,
        };
        let (signal, lost) = Lost::signal();
        (holds.enter(&name.into(), identity, signal), lost)
    }

    #[test]
    fn what_was_missed_before_it_was_held_is_not_lost() {
        let nowhere = tempfile::tempdir().unwrap();
        let holds = Holds::new(nowhere.path().into());
        let (entry, lost) = entered(&holds, "x");
        assert!(!holds.check("x"));
        assert_eq!(lost.get(), None);
        assert!(!entry.settle());
    }

    #[test]
    fn what_is_taken_away_while_it_is_held_is_lost() {
        let nowhere = tempfile::tempdir().unwrap();
        let holds = Holds::new(nowhere.path().into());
        let (entry, lost) = entered(&holds, "x");
        assert!(entry.settle());
        assert!(holds.check("x"));
        assert_eq!(lost.get(), Some(Loss::Taken));
    }
}
