//! A held lock: its files, locked.

use crate::{
    attempt::{Aim, PACE, Pause, Rise, Watching},
    errors::refused,
    locked::Locked,
    names::Names,
    place::{Opened, Place},
    stamp::Stamp,
    sys::Access,
};
use lockwork_core::lock::{
    Deadline, Error, ErrorKind, Instant, LossSignal, Lost, Mode, Result, Token,
    backend::{Attempt, Hold, wait_until},
};
use std::sync::{Arc, Mutex, PoisonError};

/// A lock held in a directory. It lasts until it is released, its process ends, or its file is
/// taken away.
#[derive(Debug)]
pub struct FileHold {
    aim: Aim,
    first: Locked,
    second: Option<Locked>,
    /// Closed after all else, so that whoever watches it is told.
    bell: Option<Opened>,
    token: Option<Token>,
    telling: (LossSignal, Lost),
}

impl FileHold {
    pub(crate) const fn new(
        aim: Aim,
        first: Locked,
        second: Option<Locked>,
        token: Option<Token>,
        telling: (LossSignal, Lost),
    ) -> Self {
        Self {
            aim,
            first,
            second,
            bell: None,
            token,
            telling,
        }
    }

    pub(crate) fn ring_afterwards(&mut self, bell: Opened) {
        self.bell = Some(bell);
    }

    /// Sees that what its record says is on the disk. Waits for the disk.
    pub(crate) fn sync(&self) -> Result<()> {
        sync(&self.first)
    }
}

fn sync(locked: &Locked) -> Result<()> {
    let opened = locked.opened();
    let synced = opened.file.sync_data();
    synced.map_err(|error| refused(error, &opened.path))
}

impl Hold for FileHold {
    const AT_ONCE: bool = true;

    fn token(&self) -> Option<Token> {
        self.token
    }

    fn lost(&self) -> Lost {
        self.telling.1.clone()
    }

    fn valid_until(&self) -> Option<Instant> {
        None
    }

    #[cfg(unix)]
    fn descriptors(&self) -> std::io::Result<Vec<std::os::fd::OwnedFd>> {
        let locked = std::iter::once(&self.first).chain(&self.second);
        let bell = self.bell.iter().map(|bell| bell.file.try_clone());
        let bell = bell.map(|file| file.map(Into::into));
        locked.map(Locked::duplicate).chain(bell).collect()
    }

    async fn upgrade(&mut self, deadline: Deadline) -> Result<bool> {
        if self.aim.who.mode != Mode::Upgradeable {
            let message = "only an upgradeable reader can be upgraded, and only once";
            return Err(Error::new(ErrorKind::Invalid, message));
        }
        let upgrade = Arc::new(Upgrade::new(&self.aim, self.telling.clone()));
        let listener = self.aim.place.hints.listen(&self.aim.id);
        let risen = wait_until(deadline, PACE, Some(listener), || {
            let upgrade = upgrade.clone();
            async move { upgrade.attempt().await }
        });
        let Some((main, stamp)) = risen.await? else {
            return Ok(false);
        };
        self.second = Some(std::mem::replace(&mut self.first, main));
        self.token = Some(stamp.token);
        self.aim.who.mode = Mode::Write;
        Ok(true)
    }

    async fn release(self) -> Result<()> {
        let Self {
            aim,
            first,
            second,
            bell,
            ..
        } = self;
        let handed_out = first.is_handed_out();
        let first = first.unlock();
        let second = second.map_or(Ok(()), Locked::unlock);
        let rung = bell.map_or(Ok(()), |bell| ring(&aim.place, &bell, handed_out));
        first.and(second).and(rung)
    }
}

/// Tells who waits for a permit: closing `bell` does, unless another process has it open or the
/// gate is another file by now.
fn ring(place: &Place, bell: &Opened, handed_out: bool) -> Result<()> {
    if handed_out {
        bell.ring();
    }
    if !place.is_in_place(bell)? {
        drop(place.open_existing(&bell.name, Access::Write)?);
    }
    Ok(())
}

/// An upgrade under way. Dropped, the reader is what it was.
#[derive(Debug)]
struct Upgrade {
    aim: Aim,
    telling: (LossSignal, Lost),
    tries: Mutex<(Rise, Watching)>,
}

impl Upgrade {
    fn new(aim: &Aim, telling: (LossSignal, Lost)) -> Self {
        let mut aim = aim.clone();
        aim.who.mode = Mode::Write;
        let rise = Rise::new(&Names::of(&aim.id));
        Self {
            aim,
            telling,
            tries: Mutex::new((rise, Watching::default())),
        }
    }

    async fn attempt(&self) -> Result<Attempt<(Locked, Stamp)>> {
        let tried = self.rise()?;
        // What the upgrade began from may be gone since.
        self.aim.place.check(&Names::of(&self.aim.id).intent());
        if let Some(loss) = self.telling.1.get() {
            return Err(loss.into());
        }
        match tried {
            Attempt::Granted((main, stamp)) if stamp.sync => {
                let synced = crate::disk::wait(move || sync(&main).map(|()| main));
                Ok(Attempt::Granted((synced.await?, stamp)))
            }
            attempt => Ok(attempt),
        }
    }

    fn rise(&self) -> Result<Attempt<(Locked, Stamp)>> {
        // Nothing that can panic runs under this lock.
        let mut tries = self.tries.lock().unwrap_or_else(PoisonError::into_inner);
        let (rise, watching) = &mut *tries;
        let (signal, _) = &self.telling;
        let mut tried = rise.attempt(&self.aim, signal)?;
        if tried
            .as_ref()
            .is_err_and(|pause| *pause == Pause::UntilTold)
            && rise.main().take_reopened()
        {
            watching.begin(&self.aim, &[rise.main().name().clone()]);
            tried = rise.attempt(&self.aim, signal)?;
        }
        Ok(match tried {
            Ok(risen) => Attempt::Granted(risen),
            Err(pause) => Attempt::Busy {
                again_in: Some(watching.longest(pause)),
            },
        })
    }
}
