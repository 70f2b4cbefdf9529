//! Letting go of a lock that another process waits for.

use super::{directory, kinds::Kind};
use crate::{
    cell::{Outcome, Turns},
    cells::{Role, everything_on_one_thread},
    process::{Line, Other},
    stats,
};
use std::{future::poll_fn, path::Path, pin::pin, time::Duration};
use tokio::runtime::Runtime;

pub(super) fn p50_and_p99(delays: &[f64]) -> Vec<f64> {
    [50, 99]
        .map(|percent| stats::percentile(delays, percent))
        .into()
}

/// The time in nanoseconds, by a clock that all processes share.
pub(super) fn now() -> u64 {
    lockwork::Instant::now().as_nanos()
}

/// How long it is held at least while somebody waits: long enough for the waiter to be asleep.
pub(super) const NAP: Duration = Duration::from_millis(2);

/// Sleeps for `least` up to twice as long, by chance: nobody who looks now and then should always
/// come at the same moment.
pub(super) fn nap(least: Duration) {
    if !least.is_zero() {
        let more = now() / 1_000 % (least.as_micros() as u64);
        std::thread::sleep(least + Duration::from_micros(more));
    }
}

pub(super) const fn role<K: Kind>() -> Role {
    Role {
        name: K::HANDOFF,
        play: other::<K>,
    }
}

/// Half of the operations are hand-offs of this process, half of the other.
pub(super) fn between<K: Kind>() -> Outcome<Turns> {
    let directory = directory()?;
    let (other, line) = Other::start(K::HANDOFF, directory.path())?;
    let mut player = Player::<K>::new(directory.path(), line)?;
    Ok(Box::new(move |operations| {
        let _until_now = (&other, &directory);
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
        drop(guard);
        Ok(p50_and_p99(&delays))
    }))
}

/// The other process.
fn other<K: Kind>(directory: &Path, line: Line) -> Outcome<()> {
    let mut player = Player::<K>::new(directory, line)?;
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
}

/// Says that its speaker waits.
const WAITS: u64 = 0;

impl<K: Kind> Player<K> {
    fn new(directory: &Path, line: Line) -> Outcome<Self> {
        let runtime = everything_on_one_thread()?;
        let within = runtime.enter();
        let lock = K::in_directory(directory)?;
        drop(within);
        Ok(Self {
            runtime,
            lock,
            line,
        })
    }

    /// Lets go once the other waits, and says how long that took to reach it. This process does not
    /// ask again before: the lock could be had back while the other wakes up.
    fn let_go(&mut self, guard: K::Guard) -> Outcome<f64> {
        if self.line.hear()? != WAITS {
            return Err("the lock was there before it was let go".into());
        }
        nap(NAP);
        let let_go = now();
        drop(guard);
        self.line.say(let_go)?;
        Ok(delay(let_go, self.line.hear()?))
    }

    /// Waits until the other lets go, and says how long that took to get here.
    fn take_over(&mut self) -> Outcome<(K::Guard, f64)> {
        let Self {
            runtime,
            lock,
            line,
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
