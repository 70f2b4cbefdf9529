//! One file, locked: the step everything else is made of.
//!
//! A lock counts only if the file is still where its name leads after it was locked. Otherwise
//! somebody removed it in between, and the next one who comes would make a new file and lock that.

use crate::{
    errors::refused,
    holds::Entry,
    place::{Opened, Place},
    sys::{Access, Missing},
};
use lockwork_core::lock::{Error, ErrorKind, LossSignal, Result};
use std::{
    fs::TryLockError,
    io,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

/// How a file is locked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum How {
    Alone,
    WithOthers,
}

/// A locked file. Dropped, it is unlocked first and closed then: whoever is told of the closing
/// must find it unlocked.
#[derive(Debug)]
pub(crate) struct Locked {
    /// `None` only while dropping.
    opened: Option<Opened>,
    entry: Option<Entry>,
    /// Whether another process may have it open, so that our closing tells nobody.
    handed_out: AtomicBool,
}

impl Locked {
    pub(crate) fn opened(&self) -> &Opened {
        self.opened
            .as_ref()
            .expect("a locked file is there until it is unlocked by value")
    }

    /// A duplicate of the descriptor, to be handed to another process.
    #[cfg(unix)]
    pub(crate) fn duplicate(&self) -> io::Result<std::os::fd::OwnedFd> {
        self.handed_out.store(true, Ordering::Relaxed);
        self.opened().file.try_clone().map(Into::into)
    }

    pub(crate) fn is_handed_out(&self) -> bool {
        self.handed_out.load(Ordering::Relaxed)
    }

    /// Remembers the number it was given, for as long as it is held.
    pub(crate) fn numbered(&self, counter: u64) {
        if let Some(entry) = &self.entry {
            entry.numbered(counter);
        }
    }

    /// It was seen in place; `false` if it was taken away since.
    fn settle(&self) -> bool {
        self.entry.as_ref().is_none_or(Entry::settle)
    }

    /// Unlocks it. What cannot be unlocked is closed all the same, and that unlocks it.
    pub(crate) fn unlock(mut self) -> Result<()> {
        self.let_go()
    }

    /// Unlocks it and leaves it open; `None` if only closing it could.
    fn into_opened(mut self) -> Option<Opened> {
        self.entry = None;
        self.opened.take().filter(|it| it.file.unlock().is_ok())
    }

    fn let_go(&mut self) -> Result<()> {
        self.entry = None;
        let Some(opened) = self.opened.take() else {
            return Ok(());
        };
        let unlocked = opened.file.unlock();
        if self.is_handed_out() {
            opened.ring();
        }
        unlocked.map_err(|error| refused(error, &opened.path))
    }
}

impl Drop for Locked {
    fn drop(&mut self) {
        if let Err(error) = self.let_go() {
            tracing::warn!(%error, "a lock file was closed without being unlocked");
        }
    }
}

/// How often a file may be replaced under our hands before that is an error.
const REPLACEMENTS: u32 = 1000;

/// A file to be locked, perhaps after several tries. It stays open in between, so that our own
/// tries wake nobody.
#[derive(Debug)]
pub(crate) struct Target {
    name: Arc<str>,
    access: Access,
    missing: Missing,
    opened: Option<Opened>,
    /// Whether it was opened anew since somebody last asked.
    reopened: bool,
}

impl Target {
    pub(crate) const fn new(name: Arc<str>, access: Access) -> Self {
        Self {
            name,
            access,
            missing: Missing::Make,
            opened: None,
            reopened: false,
        }
    }

    /// A file that is not made if it is not there: then nobody can have it, and neither can we.
    pub(crate) const fn existing(name: Arc<str>, access: Access) -> Self {
        let mut target = Self::new(name, access);
        target.missing = Missing::Leave;
        target
    }

    pub(crate) const fn name(&self) -> &Arc<str> {
        &self.name
    }

    /// The file, if it is open and not locked.
    pub(crate) const fn opened(&self) -> Option<&Opened> {
        self.opened.as_ref()
    }

    /// Whether the file was opened, for the first time or anew, since this was last asked.
    pub(crate) fn take_reopened(&mut self) -> bool {
        std::mem::take(&mut self.reopened)
    }

    /// Unlocks what was locked here and keeps it open for the next try.
    pub(crate) fn take_back(&mut self, locked: Locked) {
        self.opened = locked.into_opened();
    }

    /// Tries to lock the file; `None` if somebody else has it. `signal` is told if the file is
    /// taken away while it is locked.
    pub(crate) fn try_lock(
        &mut self,
        place: &Arc<Place>,
        how: How,
        signal: Option<&LossSignal>,
    ) -> Result<Option<Locked>> {
        for _ in 0..REPLACEMENTS {
            let opened = match self.opened.take() {
                Some(opened) => opened,
                None => match self.open(place)? {
                    Some(opened) => opened,
                    None => return Ok(None),
                },
            };
            if !try_lock(&opened, how)? {
                if place.is_in_place(&opened)? {
                    self.opened = Some(opened);
                    return Ok(None);
                }
            } else {
                let identity = opened.facts.identity;
                let enter =
                    |signal: &LossSignal| place.holds.enter(&opened.name, identity, signal.clone());
                let locked = Locked {
                    entry: signal.map(enter),
                    opened: Some(opened),
                    handed_out: AtomicBool::new(false),
                };
                // After it was entered: what happens from now on is seen.
                if place.is_in_place(locked.opened())? && locked.settle() {
                    return Ok(Some(locked));
                }
            }
            place.refresh()?;
        }
        let message = "the lock file is replaced again and again: see who removes it";
        Err(Error::new(ErrorKind::Unavailable, message)
            .with("path", place.path().join(&*self.name).display()))
    }

    fn open(&mut self, place: &Arc<Place>) -> Result<Option<Opened>> {
        self.reopened = true;
        if self.missing == Missing::Leave {
            return place.open_existing(&self.name, self.access);
        }
        match place.open_file(&self.name, self.access) {
            // The directory may have been replaced.
            Err(error) if error.kind() == ErrorKind::Unavailable => {
                place.refresh()?;
                place.open_file(&self.name, self.access).map(Some)
            }
            opened => opened.map(Some),
        }
    }
}

/// Tries to lock `opened`, waiting for nobody.
pub(crate) fn try_lock(opened: &Opened, how: How) -> Result<bool> {
    loop {
        let locked = match how {
            How::Alone => opened.file.try_lock(),
            How::WithOthers => opened.file.try_lock_shared(),
        };
        match locked {
            Ok(()) => return Ok(true),
            Err(TryLockError::WouldBlock) => return Ok(false),
            Err(TryLockError::Error(error)) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(TryLockError::Error(error)) => return Err(refused(error, &opened.path)),
        }
    }
}
