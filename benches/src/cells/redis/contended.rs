//! Tasks of two processes that all want one lock all the time.

use super::server;
use crate::{
    cell::{Figure, Fold, Outcome, Turns, Unit},
    cells::{
        Role, everything_on_one_thread,
        handoff::Kind as _,
        pair::now,
        served::{Lockwork, directory_of},
    },
    process::{Line, Other},
    stats,
};
use std::{path::Path, time::Duration};
use tokio::{task::JoinSet, time::sleep};

/// Per cent of the time in which nobody had it.
pub(super) const IDLE: Figure = Figure {
    name: "% idle",
    unit: Unit::Count,
    over_rounds: Fold::Median,
};

/// How many times as often as the least served task the mean one had it.
pub(super) const UNEVEN: Figure = Figure {
    name: "mean by least served",
    unit: Unit::Count,
    over_rounds: Fold::Max,
};

pub(super) const LONGEST: Figure = Figure {
    name: "longest wait",
    unit: Unit::Nanoseconds,
    over_rounds: Fold::Max,
};

pub(super) const CALLS: Figure = Figure {
    name: "calls each",
    unit: Unit::Count,
    over_rounds: Fold::Median,
};

pub(super) const EACH_HOLD: Figure = Figure {
    name: "hold",
    unit: Unit::Nanoseconds,
    over_rounds: Fold::Median,
};

pub(super) const ROLE: Role = Role {
    name: "contended-redis",
    play,
};

const PROCESSES: usize = 2;
const TASKS: usize = 4;

/// For how long each holds it, at least: a sleep of tokio's is up to a millisecond longer.
const HOLD: Duration = Duration::from_millis(1);

/// Both processes have heard by then when it begins.
const SOON: Duration = Duration::from_millis(20);

/// For as long as so many holds should take as there are operations. With a `tenure` as it stands
/// in a URL.
pub(super) fn in_two_processes(tenure: &str) -> Outcome<Turns> {
    let directory = directory_of(&(server::url()? + tenure))?;
    let start = |_| Other::start(ROLE.name, directory.path());
    let mut both = (0..PROCESSES).map(start).collect::<Outcome<Vec<_>>>()?;
    Ok(Box::new(move |operations| {
        let _until_now = &directory;
        let before = server::calls()?;
        let begin = now() + nanos(SOON);
        let end = begin + nanos(HOLD) * operations;
        for (_, line) in &mut both {
            line.say(begin)?;
            line.say(end)?;
        }
        let mut all = Vec::new();
        for (_, line) in &mut both {
            for _ in 0..TASKS {
                all.push(Served::hear(line)?);
            }
        }
        let calls = server::calls()? - before;
        Ok(figures(&all, calls, end - begin))
    }))
}

fn figures(all: &[Served], calls: u64, time: u64) -> Vec<f64> {
    let times: Vec<f64> = all.iter().map(|task| task.times as f64).collect();
    let total: f64 = times.iter().sum();
    let mean = total / times.len() as f64;
    let held: u64 = all.iter().map(|task| task.held).sum();
    let waits: Vec<f64> = all.iter().map(|task| task.longest as f64).collect();
    vec![
        100.0 * (1.0 - held as f64 / time as f64),
        mean / stats::min(&times),
        stats::max(&waits),
        calls as f64 / total,
        held as f64 / total,
    ]
}

/// What became of one task.
#[derive(Clone, Copy, Debug, Default)]
struct Served {
    /// How often it had the lock.
    times: u64,
    /// For how long in all, as far as that was within the time, in nanoseconds.
    held: u64,
    /// How long it waited for it at most, in nanoseconds.
    longest: u64,
}

impl Served {
    fn say(self, line: &mut Line) -> Outcome<()> {
        let Self {
            times,
            held,
            longest,
        } = self;
        for number in [times, held, longest] {
            line.say(number)?;
        }
        Ok(())
    }

    fn hear(line: &mut Line) -> Outcome<Self> {
        Ok(Self {
            times: line.hear()?,
            held: line.hear()?,
            longest: line.hear()?,
        })
    }
}

/// One of the processes.
fn play(directory: &Path, mut line: Line) -> Outcome<()> {
    let runtime = everything_on_one_thread()?;
    let lock = runtime.block_on(Lockwork::in_directory(directory))?;
    // Until nobody is there any more.
    while let Ok(begin) = line.hear() {
        let end = line.hear()?;
        let all = runtime.block_on(async {
            let mut tasks = JoinSet::new();
            for _ in 0..TASKS {
                tasks.spawn(again_and_again(lock.clone(), begin, end));
            }
            tasks.join_all().await
        });
        for task in all {
            task?.say(&mut line)?;
        }
    }
    Ok(())
}

async fn again_and_again(lock: Lockwork, begin: u64, end: u64) -> Outcome<Served> {
    sleep(Duration::from_nanos(begin.saturating_sub(now()))).await;
    let mut served = Served::default();
    loop {
        let asked = now();
        if asked >= end {
            return Ok(served);
        }
        let guard = lock.take().await?;
        let taken = now();
        served.longest = served.longest.max(taken - asked);
        // One that comes after the end had its wait, and nothing more.
        if taken < end {
            sleep(HOLD).await;
            served.times += 1;
            served.held += now().min(end) - taken;
        }
        Lockwork::let_go(guard).await?;
    }
}

fn nanos(time: Duration) -> u64 {
    time.as_nanos() as u64
}
