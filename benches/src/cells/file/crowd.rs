//! A thousand tasks of one process waiting for a lock that another process holds.

use super::kinds::Crowded;
use crate::{
    cell::{Figure, Fold, Outcome, Turns, Unit},
    cells::{Role, directory, everything_on_one_thread},
    process::{Line, Other},
};
use std::{
    fs,
    future::{pending, poll_fn},
    path::{Path, PathBuf},
    pin::pin,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    thread::sleep,
    time::{Duration, Instant},
};
use tokio::task::yield_now;

pub(super) const THREADS: Figure = Figure {
    name: "threads",
    unit: Unit::Count,
    over_rounds: Fold::Max,
};

pub(super) const TRIES: Figure = Figure {
    name: "tries a second",
    unit: Unit::Count,
    over_rounds: Fold::Max,
};

pub(super) const WAKE_UPS: Figure = Figure {
    name: "wake-ups a second",
    unit: Unit::Count,
    over_rounds: Fold::Median,
};

pub(super) const PROCESSOR: Figure = Figure {
    name: "processor a second",
    unit: Unit::Nanoseconds,
    over_rounds: Fold::Median,
};

/// How long a thousand are left alone before anybody looks, and how long they are looked at.
const ALONE: Duration = Duration::from_secs(2);
const LOOK: Duration = Duration::from_secs(3);
const LOOK_PAUSE: Duration = Duration::from_millis(1);

pub(super) const fn role<K: Crowded>() -> Role {
    Role {
        name: K::CROWD,
        play: crowd::<K>,
    }
}

/// Lets so many wait as there are operations, in a process of their own.
pub(super) fn waiting<K: Crowded>() -> Outcome<Turns> {
    watching::<K>(|seen| vec![seen.threads, seen.tries, seen.wake_ups, seen.processor])
}

/// The same without the tries, which leave no trace.
pub(super) fn waiting_untold<K: Crowded>() -> Outcome<Turns> {
    watching::<K>(|seen| vec![seen.threads, seen.wake_ups, seen.processor])
}

fn watching<K: Crowded>(figures: fn(Seen) -> Vec<f64>) -> Outcome<Turns> {
    let (runtime, directory) = (everything_on_one_thread()?, directory()?);
    let lock = runtime.block_on(K::in_directory(directory.path()))?;
    let held = runtime.block_on(lock.take())?;
    Ok(Box::new(move |waiters| {
        let _until_now = (&held, &runtime);
        let (other, mut line) = Other::start(K::CROWD, directory.path())?;
        line.say(waiters)?;
        let before = line.hear()?;
        let of_a_thousand = waiters as f64 / 1_000.0;
        sleep(ALONE.mul_f64(of_a_thousand));
        let (first, since) = (Sample::of(&other)?, Instant::now());
        let tries = changes(directory.path(), LOOK.mul_f64(of_a_thousand))?;
        let (last, took) = (Sample::of(&other)?, since.elapsed());
        Ok(figures(Seen::between(&first, &last, before, tries, took)))
    }))
}

/// The process that waits. Says how many threads it had before, once all wait.
fn crowd<K: Crowded>(directory: &Path, mut line: Line) -> Outcome<()> {
    let runtime = everything_on_one_thread()?;
    let (before, waiters) = (threads(&task("self"))?.len() as u64, line.hear()?);
    runtime.block_on(async {
        let lock = K::in_directory(directory).await?;
        let queued = Arc::new(AtomicU64::new(0));
        for _ in 0..waiters {
            tokio::spawn(one_of_them(lock.clone(), queued.clone()));
        }
        while queued.load(Ordering::Relaxed) < waiters {
            yield_now().await;
        }
        line.say(before)?;
        // Until the process is ended.
        pending().await
    })
}

async fn one_of_them<K: Crowded>(lock: K, queued: Arc<AtomicU64>) {
    let mut first_time = true;
    let mut taking = pin!(lock.take());
    let taken = poll_fn(|cx| {
        queued.fetch_add(
            u64::from(std::mem::take(&mut first_time)),
            Ordering::Relaxed,
        );
        taking.as_mut().poll(cx)
    });
    let taken = taken.await.map(|_| "it was had");
    eprintln!("nobody should get what is held all the time: {taken:?}");
}

/// What is known of a process at one moment, since it began.
#[derive(Debug, Default)]
struct Sample {
    threads: u64,
    wake_ups: u64,
    nanos: u64,
}

impl Sample {
    fn of(other: &Other) -> Outcome<Self> {
        let id = other.id().to_string();
        let mut sample = Self::default();
        for thread in threads(&task(&id))? {
            let text = |file| fs::read_to_string(thread.join(file));
            let spent = text("schedstat")?;
            let spent = spent.split_whitespace().next();
            sample.nanos += spent.ok_or("schedstat is empty")?.parse::<u64>()?;
            sample.wake_ups += named(&text("status")?, "voluntary_ctxt_switches")?;
            sample.threads += u64::from(text("comm")?.trim() != "lockwork-keeper");
        }
        Ok(sample)
    }
}

/// The number after `name:` in a table of `/proc`.
fn named(table: &str, name: &str) -> Outcome<u64> {
    let found = table
        .lines()
        .find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
    let found = found.ok_or_else(|| format!("/proc does not tell `{name}` here"))?;
    Ok(found.trim().parse()?)
}

fn task(id: &str) -> PathBuf {
    Path::new("/proc").join(id).join("task")
}

fn threads(task: &Path) -> Outcome<Vec<PathBuf>> {
    let entries = fs::read_dir(task)?.map(|entry| Ok(entry?.path()));
    entries.collect()
}

/// How often the files of `directory` change within `time`.
fn changes(directory: &Path, time: Duration) -> Outcome<u64> {
    let newest = || {
        let files = fs::read_dir(directory)?;
        let times = files.map(|file| file?.metadata()?.modified());
        let newest = times.reduce(|one, other| Ok(one?.max(other?)));
        newest.transpose()
    };
    let (end, mut changes, mut before) = (Instant::now() + time, 0, newest()?);
    while Instant::now() < end {
        sleep(LOOK_PAUSE);
        let after = newest()?;
        changes += u64::from(after != before);
        before = after;
    }
    Ok(changes)
}

/// What happened in a second.
#[derive(Debug)]
struct Seen {
    threads: f64,
    tries: f64,
    wake_ups: f64,
    processor: f64,
}

impl Seen {
    fn between(first: &Sample, last: &Sample, before: u64, tries: u64, took: Duration) -> Self {
        let a_second =
            |of: fn(&Sample) -> u64| of(last).saturating_sub(of(first)) as f64 / took.as_secs_f64();
        Self {
            threads: last.threads.saturating_sub(before) as f64,
            tries: tries as f64 / took.as_secs_f64(),
            wake_ups: a_second(|sample| sample.wake_ups),
            processor: a_second(|sample| sample.nanos),
        }
    }
}
