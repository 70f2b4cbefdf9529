//! A thousand tasks of one process waiting for a lock that another process holds, and what that
//! costs the process, seen from outside.

use super::{Role, everything_on_one_thread, handoff::Kind};
use crate::{
    cell::{Figure, Fold, Outcome, Unit},
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
    time::{Duration, Instant},
};
use tokio::task::yield_now;

/// One that a crowd waits for.
pub(super) trait Crowded: Kind {
    /// What the process of those who wait is told to do.
    const CROWD: &str;
}

pub(super) const THREADS: Figure = Figure {
    name: "threads",
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

pub(super) const fn role<K: Crowded>() -> Role {
    Role {
        name: K::CROWD,
        play: crowd::<K>,
    }
}

/// Those who wait.
#[derive(Debug)]
pub(super) struct Crowd {
    process: Other,
    /// How many threads it had before anybody waited.
    threads: u64,
}

impl Crowd {
    /// Lets so many wait in a process of their own, which ends when this is dropped.
    pub(super) fn start<K: Crowded>(directory: &Path, waiters: u64) -> Outcome<Self> {
        let (process, mut line) = Other::start(K::CROWD, directory)?;
        line.say(waiters)?;
        let threads = line.hear()?;
        Ok(Self { process, threads })
    }

    /// Looks at them for as long as `meanwhile` takes.
    pub(super) fn watch<T>(&self, meanwhile: impl FnOnce() -> Outcome<T>) -> Outcome<(Seen, T)> {
        let (first, since) = (Sample::of(&self.process)?, Instant::now());
        let found = meanwhile()?;
        let (last, took) = (Sample::of(&self.process)?, since.elapsed());
        Ok((Seen::between(&first, &last, self.threads, took), found))
    }
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

/// What happened in a second.
#[derive(Debug)]
pub(super) struct Seen {
    pub(super) threads: f64,
    pub(super) wake_ups: f64,
    pub(super) processor: f64,
    /// How long they were looked at.
    pub(super) seconds: f64,
}

impl Seen {
    fn between(first: &Sample, last: &Sample, before: u64, took: Duration) -> Self {
        let seconds = took.as_secs_f64();
        let a_second = |of: fn(&Sample) -> u64| of(last).saturating_sub(of(first)) as f64 / seconds;
        Self {
            threads: last.threads.saturating_sub(before) as f64,
            wake_ups: a_second(|sample| sample.wake_ups),
            processor: a_second(|sample| sample.nanos),
            seconds,
        }
    }
}
