//! Letting go of a lock that another process waits for.

use super::{
    Role, everything_on_one_thread,
    pair::{self, Setting, nap, now},
};
use crate::{
    cell::{Figure, Outcome, Turns},
    process::Line,
};
use std::{future::poll_fn, path::Path, pin::pin, time::Duration};
use tempfile::TempDir;
use tokio::runtime::Runtime;

/// A lock of one name that tasks of two processes wait for, by one crate.
pub(super) trait Kind: Clone + Send + Sync + 'static {
    /// What the two processes are told to do with it.
    const HANDOFF: [&str; 2];

    type Guard: Send + 'static;

    /// The lock that is in a directory, or that a file there tells of.
    fn in_directory(directory: &Path) -> impl Future<Output = Outcome<Self>> + Send;

    fn take(&self) -> impl Future<Output = Outcome<Self::Guard>> + Send;

    /// Lets go: by dropping the guard, where that does it at once.
    fn let_go(guard: Self::Guard) -> impl Future<Output = Outcome<()>> + Send {
        drop(guard);
        std::future::ready(Ok(()))
    }
}

pub(super) const fn first<K: Kind>() -> Role {
    Role {
        name: K::HANDOFF[0],
        play: play_first::<K>,
    }
}

pub(super) const fn second<K: Kind>() -> Role {
    Role {
        name: K::HANDOFF[1],
        play: play_second::<K>,
    }
}

/// Half of the operations are hand-offs of the one process, half of the other.
pub(super) fn between<K: Kind>(
    setting: Setting,
    directory: TempDir,
    figures: &'static [Figure],
) -> Outcome<Turns> {
    pair::start(K::HANDOFF[0], setting, directory, figures)
}

fn play_first<K: Kind>(directory: &Path, line: Line) -> Outcome<()> {
    pair::first(K::HANDOFF[1], directory, line, |across, pause| {
        let mut player = Player::<K>::new(directory, across, pause)?;
        Ok(move |operations: u64| {
            let pairs = operations.div_ceil(2);
            let mut guard = player.runtime.block_on(player.lock.take())?;
            // After it was taken: from now on the other asks for it.
            player.line.say(pairs)?;
            let mut delays = Vec::new();
            for _ in 0..pairs {
                delays.push(player.let_go(guard)?);
                let (taken, delay) = player.take_over()?;
                delays.push(delay);
                guard = taken;
            }
            player.runtime.block_on(K::let_go(guard))?;
            Ok(delays)
        })
    })
}

fn play_second<K: Kind>(directory: &Path, mut line: Line) -> Outcome<()> {
    let pause = pair::second(&mut line)?;
    let mut player = Player::<K>::new(directory, line, pause)?;
    // Until nobody is there any more.
    while let Ok(pairs) = player.line.hear() {
        for _ in 0..pairs {
            let (guard, _) = player.take_over()?;
            player.let_go(guard)?;
        }
    }
    Ok(())
}

/// One of the two.
struct Player<K> {
    runtime: Runtime,
    lock: K,
    line: Line,
    /// How long it is held at least while the other waits.
    pause: Duration,
}

/// Says that its speaker waits.
const WAITS: u64 = 0;

impl<K: Kind> Player<K> {
    fn new(directory: &Path, line: Line, pause: Duration) -> Outcome<Self> {
        let runtime = everything_on_one_thread()?;
        let lock = runtime.block_on(K::in_directory(directory))?;
        Ok(Self {
            runtime,
            lock,
            line,
            pause,
        })
    }

    /// Lets go once the other waits, and says how long that took to reach it. This process does not
    /// ask again before: the lock could be had back while the other wakes up.
    fn let_go(&mut self, guard: K::Guard) -> Outcome<f64> {
        if self.line.hear()? != WAITS {
            return Err("the lock was there before it was let go".into());
        }
        nap(self.pause);
        let let_go = self.runtime.block_on(async {
            let begun = now();
            K::let_go(guard).await?;
            Outcome::Ok(begun)
        })?;
        self.line.say(let_go)?;
        Ok(delay(let_go, self.line.hear()?))
    }

    /// Waits until the other lets go, and says how long that took to get here.
    fn take_over(&mut self) -> Outcome<(K::Guard, f64)> {
        let Self {
            runtime,
            lock,
            line,
            ..
        } = self;
        let (guard, taken) = runtime.block_on(async {
            let mut taking = pin!(lock.take());
            let mut asked = false;
            let guard = poll_fn(|cx| {
                let taken = taking.as_mut().poll(cx);
                if taken.is_pending() && !std::mem::replace(&mut asked, true) {
                    // Unheard, the other waits for ever, and whoever runs this sees that.
                    let _ = line.say(WAITS);
                }
                taken
            });
            let guard = guard.await?;
            Outcome::Ok((guard, now()))
        })?;
        let let_go = line.hear()?;
        line.say(taken)?;
        Ok((guard, delay(let_go, taken)))
    }
}

fn delay(let_go: u64, taken: u64) -> f64 {
    taken.saturating_sub(let_go) as f64
}
