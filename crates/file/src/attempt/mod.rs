//! Trying to take a lock, once or again and again, without ever waiting inside a call.
//!
//! | | is taken by locking | and passes |
//! |---|---|---|
//! | mutex | `main`, alone | |
//! | read | `main`, with others | `gate`, with others |
//! | upgradeable | `intent`, alone | |
//! | write | `intent`, then `main`, alone | `gate`, alone, until `main` is got |
//! | upgrade | `main`, alone (`intent` is held) | `gate`, alone, until `main` is got |
//! | permit | one of the numbered files, alone | `gate`: with others at first, alone by who waits |
//!
//! A gate that is shut keeps newcomers out while somebody waits inside. Upgrading takes a further
//! file and converts no lock: a conversion that fails may have lost what it converted (`flock(2)`).

mod permit;
mod rise;
mod step;
mod watching;

pub(crate) use rise::Rise;
pub(crate) use watching::{PACE, Watching};

use self::{permit::Permit, step::Step};
use crate::{
    hold::FileHold,
    locked::{How, Locked, Target},
    names::Names,
    place::Place,
    record::Record,
    stamp::{self, Stamp, Who},
    sys::Access,
};
use lockwork_core::lock::{LockId, LossSignal, Lost, Mode, Request, Result, Token};
use std::{sync::Arc, time::Duration};

/// What one try brought.
#[derive(Debug)]
pub(crate) enum Outcome {
    Granted(FileHold),
    /// Granted, once its record is on the disk.
    Unsynced(FileHold),
    Refused(Refusal),
}

impl Outcome {
    /// Whether the question could not be put: nobody has the lock who would keep it.
    pub(crate) const fn is_not_yet(&self) -> bool {
        matches!(self, Self::Refused(Refusal::Busy(Pause::AMoment)))
    }
}

/// Why there is no grant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// It was free and is left to another client, who waits for what we had last.
    GaveWay,
    Busy(Pause),
}

const BUSY: Refusal = Refusal::Busy(Pause::UntilTold);

/// When to try again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pause {
    /// Somebody has it for as long as they like.
    UntilTold,
    /// Somebody is just passing.
    AMoment,
}

/// What an effort is for.
#[derive(Clone, Debug)]
pub(crate) struct Aim {
    pub(crate) place: Arc<Place>,
    pub(crate) id: LockId,
    pub(crate) who: Who,
}

/// One request's tries. What it keeps in between is let go when it is dropped.
#[derive(Debug)]
pub(crate) struct Effort {
    names: Names,
    tries: Tries,
    way: Way,
    watching: Watching,
}

/// The files a mode needs, as far as they have been got.
#[derive(Debug)]
enum Way {
    Mutex(Target),
    Read { gate: Target, main: Target },
    Upgradeable(Target),
    Write(Box<Writing>),
    Permit(Permit),
}

#[derive(Debug)]
struct Writing {
    intent: Step,
    rise: Rise,
}

impl Way {
    fn of(mode: Mode, names: &Names) -> Self {
        let target = |name| Target::new(name, Access::Write);
        match mode {
            Mode::Read => Self::Read {
                gate: Target::new(names.gate(), Access::Read),
                main: target(names.main()),
            },
            Mode::Write => Self::Write(Box::new(Writing {
                intent: Step::new(target(names.intent())),
                rise: Rise::new(names),
            })),
            Mode::Upgradeable => Self::Upgradeable(target(names.intent())),
            Mode::Permit { of } => Self::Permit(Permit::new(names, of.get())),
            _ => Self::Mutex(target(names.main())),
        }
    }

    /// Which files tell a waiter that it is time to try again, and whether any was opened since
    /// this was last asked.
    fn watched(&mut self) -> (Vec<Arc<str>>, bool) {
        let mut targets = match self {
            Self::Mutex(target) | Self::Upgradeable(target) => vec![target],
            Self::Read { gate, main } => vec![gate, main],
            // The other file may not be there.
            Self::Write(writing) if writing.intent.is_taken() => vec![writing.rise.main()],
            Self::Write(writing) => vec![writing.intent.target()],
            Self::Permit(permit) => vec![permit.gate()],
        };
        let reopened = targets
            .iter_mut()
            .fold(false, |any, target| target.take_reopened() | any);
        let names = targets.iter().map(|target| target.name().clone());
        (names.collect(), reopened)
    }
}

impl Effort {
    pub(crate) fn new(place: Arc<Place>, request: &Request) -> Self {
        let id = request.id();
        let names = Names::of(&id);
        let who = Who {
            owner: request.owner,
            mode: request.mode,
        };
        Self {
            way: Way::of(request.mode, &names),
            names,
            tries: Tries {
                aim: Aim { place, id, who },
                telling: Lost::signal(),
                waits: !request.deadline.has_passed(),
                waiting: false,
            },
            watching: Watching::default(),
        }
    }

    /// One try.
    pub(crate) fn attempt(&mut self) -> Result<Outcome> {
        let tries = &mut self.tries;
        if tries.telling.1.get().is_some() {
            // What was kept is gone.
            tries.telling = Lost::signal();
            self.way = Way::of(tries.aim.who.mode, &self.names);
        }
        match &mut self.way {
            Way::Mutex(main) => tries.mutex(main),
            Way::Read { gate, main } => tries.read(gate, main),
            Way::Upgradeable(intent) => tries.upgradeable(intent),
            Way::Write(writing) => tries.write(writing),
            Way::Permit(permit) => tries.permit(permit),
        }
    }

    /// One try of somebody who waits. Before it gives a busy answer it sees to being told.
    pub(crate) fn attempt_again(&mut self) -> Result<Outcome> {
        self.tries.waiting = true;
        let outcome = self.attempt()?;
        if !matches!(outcome, Outcome::Refused(BUSY)) {
            return Ok(outcome);
        }
        let (names, reopened) = self.way.watched();
        if !reopened {
            return Ok(outcome);
        }
        self.watching.begin(&self.tries.aim, &names);
        // What happened before anybody watched was not told.
        self.attempt()
    }

    /// How long to wait at most before the next try.
    pub(crate) fn longest(&mut self, pause: Pause) -> Duration {
        self.watching.longest(pause)
    }
}

/// Who tries, and how.
#[derive(Debug)]
struct Tries {
    aim: Aim,
    telling: (LossSignal, Lost),
    /// Whether the request waits if it must.
    waits: bool,
    /// Whether it has begun to.
    waiting: bool,
}

impl Tries {
    fn mutex(&self, main: &mut Target) -> Result<Outcome> {
        Ok(match self.signed(main)? {
            Ok((locked, stamp)) => granted(self.hold(locked, None, Some(stamp.token)), stamp.sync),
            Err(refusal) => Outcome::Refused(refusal),
        })
    }

    fn upgradeable(&self, intent: &mut Target) -> Result<Outcome> {
        Ok(match self.signed(intent)? {
            // No token, so nothing that must be on the disk.
            Ok((locked, _)) => Outcome::Granted(self.hold(locked, None, None)),
            Err(refusal) => Outcome::Refused(refusal),
        })
    }

    fn read(&self, gate: &mut Target, main: &mut Target) -> Result<Outcome> {
        let place = &self.aim.place;
        let Some(passing) = gate.try_lock(place, How::WithOthers, None)? else {
            return Ok(Outcome::Refused(BUSY));
        };
        let signal = Some(&self.telling.0);
        let Some(locked) = main.try_lock(place, How::WithOthers, signal)? else {
            gate.take_back(passing);
            return Ok(Outcome::Refused(BUSY));
        };
        drop(passing);
        Ok(Outcome::Granted(self.hold(locked, None, None)))
    }

    fn write(&self, writing: &mut Writing) -> Result<Outcome> {
        if !writing.intent.is_taken() {
            match self.signed(writing.intent.target())? {
                Ok((locked, _)) => writing.intent.keep(locked),
                Err(refusal) => return Ok(Outcome::Refused(refusal)),
            }
        }
        let (main, stamp) = match writing.rise.attempt(&self.aim, &self.telling.0)? {
            Ok(risen) => risen,
            Err(pause) => return Ok(Outcome::Refused(Refusal::Busy(pause))),
        };
        // The intent may be from an earlier try, and gone since.
        self.aim.place.check(writing.intent.target().name());
        if self.telling.1.get().is_some() {
            return Ok(Outcome::Refused(Refusal::Busy(Pause::AMoment)));
        }
        let hold = self.hold(main, writing.intent.take(), Some(stamp.token));
        Ok(granted(hold, stamp.sync))
    }

    fn permit(&self, permit: &mut Permit) -> Result<Outcome> {
        let got = permit.attempt(&self.aim, &self.telling.0, self.waiting)?;
        let (locked, bell) = match got {
            Ok(got) => got,
            Err(pause) => return Ok(Outcome::Refused(Refusal::Busy(pause))),
        };
        let mut hold = self.hold(locked, None, None);
        hold.ring_afterwards(bell);
        Ok(Outcome::Granted(hold))
    }

    /// Locks `target` alone and writes into it who took it.
    ///
    /// A process that has just let go would always win against one that must first be woken. So a
    /// newcomer leaves a lock alone that its own client had last and that somebody waits for.
    fn signed(&self, target: &mut Target) -> Result<Result<(Locked, Stamp), Refusal>> {
        let place = &self.aim.place;
        let Some(locked) = target.try_lock(place, How::Alone, Some(&self.telling.0))? else {
            leave_mark(target, self.waits);
            return Ok(Err(BUSY));
        };
        let page = stamp::read(locked.opened())?;
        let ours = |record: &Record| record.client == place.client;
        let newcomer = self.waits && !self.waiting;
        if newcomer && page.someone_waits() && page.newest().is_some_and(ours) {
            return Ok(Err(Refusal::GaveWay));
        }
        let Some(stamp) = stamp::write(place, &locked, &page, self.aim.who)? else {
            return Ok(Err(Refusal::Busy(Pause::AMoment)));
        };
        if page.someone_waits() && self.waiting {
            // Whoever still waits leaves its mark again at its next try.
            stamp::mark(locked.opened(), false);
        }
        Ok(Ok((locked, stamp)))
    }

    fn hold(&self, first: Locked, second: Option<Locked>, token: Option<Token>) -> FileHold {
        FileHold::new(self.aim.clone(), first, second, token, self.telling.clone())
    }
}

/// Tells whoever has it that somebody waits.
fn leave_mark(target: &Target, waits: bool) {
    let Some(opened) = target.opened().filter(|_| waits) else {
        return;
    };
    // What is no lock file is not written to, though somebody has locked it.
    if stamp::read(opened).is_ok_and(|page| !page.someone_waits()) {
        stamp::mark(opened, true);
    }
}

const fn granted(hold: FileHold, sync: bool) -> Outcome {
    if sync {
        Outcome::Unsynced(hold)
    } else {
        Outcome::Granted(hold)
    }
}
