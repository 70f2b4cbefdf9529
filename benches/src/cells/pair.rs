//! Two processes that play with each other, kept on the cores they are told.
//!
//! Neither is the one that measures: that one has threads from other cells, and a thread goes where
//! its process was kept when it began. It only says how often, and is told the figures.

use crate::{
    cell::{Figure, Outcome, Turns},
    process::{Line, Other},
    stats,
};
use std::{path::Path, thread::sleep, time::Duration};
use tempfile::TempDir;

/// How two processes play.
#[derive(Clone, Copy, Debug)]
pub(super) struct Setting {
    pub(super) cores: Cores,
    /// How long, at least, the one is left waiting before the other does something.
    pub(super) pause: Duration,
}

/// Where the two are kept. A core is what the system counts as one.
#[derive(Clone, Copy, Debug)]
pub(super) enum Cores {
    /// Wherever the system puts them.
    Any,
    /// Both on the same.
    One,
    /// Each on its own.
    Two,
}

impl Cores {
    fn of_both(self) -> Outcome<[Option<usize>; 2]> {
        if matches!(self, Self::Any) {
            return Ok([None, None]);
        }
        match (self, system::cores()?.as_slice()) {
            (Self::Two, [one, .., other]) => Ok([Some(*one), Some(*other)]),
            (Self::One, [one, ..]) => Ok([Some(*one), Some(*one)]),
            _ => Err(
                "each of two processes needs a core of its own, and only one may be used here"
                    .into(),
            ),
        }
    }
}

/// What one of the two is told before anything else.
#[derive(Clone, Copy, Debug)]
struct Seat {
    core: Option<usize>,
    pause: Duration,
}

/// Says that any core will do.
const ANY: u64 = u64::MAX;

impl Seat {
    fn say(self, line: &mut Line) -> Outcome<()> {
        line.say(self.core.map_or(ANY, |core| core as u64))?;
        Ok(line.say(u64::try_from(self.pause.as_nanos())?)?)
    }

    fn hear(line: &mut Line) -> Outcome<Self> {
        let (core, pause) = (line.hear()?, line.hear()?);
        Ok(Self {
            core: (core != ANY).then_some(core as usize),
            pause: Duration::from_nanos(pause),
        })
    }

    /// Keeps this process where it belongs: it has one thread yet.
    fn sit_down(self) -> Outcome<Duration> {
        self.core.map(system::stay_on).transpose()?;
        Ok(self.pause)
    }
}

/// What both are told of each turn's operations, in this order; a cell may leave out the last.
const PERCENTS: [u32; 3] = [50, 99, 100];

/// Starts both: a process that plays the role `first`, which starts the other. Yields as many of
/// [`P50`](super::P50), [`P99`](super::P99) and [`MAX`](super::MAX) as there are `figures`.
pub(super) fn start(
    first: &str,
    setting: Setting,
    directory: TempDir,
    figures: &'static [Figure],
) -> Outcome<Turns> {
    let seats = setting.cores.of_both()?;
    let (process, mut line) = Other::start(first, directory.path())?;
    for core in seats {
        let pause = setting.pause;
        Seat { core, pause }.say(&mut line)?;
    }
    Ok(Box::new(move |operations| {
        let _until_now = (&process, &directory);
        let ended = |_| "the two processes have ended, and said why above";
        line.say(operations).map_err(ended)?;
        let figure = |_| line.hear().map(f64::from_bits).map_err(ended);
        let mut heard = PERCENTS
            .map(figure)
            .into_iter()
            .collect::<Result<Vec<_>, _>>()?;
        heard.truncate(figures.len());
        Ok(heard)
    }))
}

/// The first of the two. Starts another that plays `second`; `play` is given a line to that one and
/// the pause, and yields how long each operation took.
pub(super) fn first<P>(
    second: &str,
    directory: &Path,
    mut line: Line,
    play: impl FnOnce(Line, Duration) -> Outcome<P>,
) -> Outcome<()>
where
    P: FnMut(u64) -> Outcome<Vec<f64>>,
{
    let (own, others) = (Seat::hear(&mut line)?, Seat::hear(&mut line)?);
    let pause = own.sit_down()?;
    let (_until_the_end, mut across) = Other::start(second, directory)?;
    others.say(&mut across)?;
    let mut play = play(across, pause)?;
    // Until nobody is there any more.
    while let Ok(operations) = line.hear() {
        let delays = play(operations)?;
        for percent in PERCENTS {
            line.say(stats::percentile(&delays, percent).to_bits())?;
        }
    }
    Ok(())
}

/// The second of the two: sits down, and is told the pause.
pub(super) fn second(line: &mut Line) -> Outcome<Duration> {
    Seat::hear(line)?.sit_down()
}

/// The time in nanoseconds, by a clock that all processes share.
pub(super) fn now() -> u64 {
    lockwork::Instant::now().as_nanos()
}

/// Sleeps for `least` up to twice as long, by chance: nobody who looks now and then should always
/// come at the same moment.
pub(super) fn nap(least: Duration) {
    if !least.is_zero() {
        let more = now() / 1_000 % (least.as_micros() as u64);
        sleep(least + Duration::from_micros(more));
    }
}

#[cfg(target_os = "linux")]
mod system {
    use crate::cell::Outcome;
    use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

    /// The cores this process may use.
    pub(super) fn cores() -> Outcome<Vec<usize>> {
        let allowed = sched_getaffinity(None)?;
        let all = 0..CpuSet::MAX_CPU;
        Ok(all.filter(|core| allowed.is_set(*core)).collect())
    }

    /// Keeps this thread, and all it will begin, on one core.
    pub(super) fn stay_on(core: usize) -> Outcome<()> {
        let mut only = CpuSet::new();
        only.set(core);
        Ok(sched_setaffinity(None, &only)?)
    }
}

#[cfg(not(target_os = "linux"))]
mod system {
    use crate::cell::Outcome;

    const REFUSED: &str = "a process can be kept on a core only where Linux runs";

    pub(super) fn cores() -> Outcome<Vec<usize>> {
        Err(REFUSED.into())
    }

    pub(super) fn stay_on(_: usize) -> Outcome<()> {
        Err(REFUSED.into())
    }
}
