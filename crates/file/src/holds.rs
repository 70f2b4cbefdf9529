//! Who holds which file, to be told when that file is taken away.

use crate::sys::{self, Identity};
use lockwork_core::lock::{Loss, LossSignal};
use std::{
    collections::HashMap,
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
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
    /// The number it was given, once it was.
    counter: Arc<AtomicU64>,
}

impl Holds {
    pub(crate) fn new(directory: PathBuf) -> Self {
        Self(Arc::new(Inner {
            directory,
            held: Mutex::default(),
        }))
    }

    /// From now on, tells `signal` if `name` no longer leads to the file of this identity. Look
    /// once yourself afterwards: it may have happened before.
    pub(crate) fn enter(&self, name: &Arc<str>, identity: Identity, signal: LossSignal) -> Entry {
        let mut held = self.0.held();
        held.numbers += 1;
        let number = held.numbers;
        let counter = Arc::new(AtomicU64::new(0));
        held.by_name.entry(name.clone()).or_default().push(Holding {
            number,
            identity,
            signal,
            counter: counter.clone(),
        });
        Entry {
            holds: self.clone(),
            name: name.clone(),
            number,
            counter,
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
        let numbers = numbers.map(|holding| holding.counter.load(Ordering::Relaxed));
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
        let gone: Vec<_> = holding.iter().filter(gone).collect();
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
    counter: Arc<AtomicU64>,
}

impl Entry {
    pub(crate) fn numbered(&self, counter: u64) {
        self.counter.store(counter, Ordering::Relaxed);
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
