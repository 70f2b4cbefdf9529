//! The three measurements. Each ends by itself, and what it has seen so far is kept wherever it is dropped.

use super::{progress::Progress, report::Outcome, samples::Samples};
use crate::args::Bench;
use lockwork::{Error, ErrorKind, Guard, Info, Locks, Mutex as Lock, Result};
use std::{
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};
use tokio::task::JoinSet;

/// Nobody else wants these names, so whoever waits longer than this waits for a server that is not well.
const PATIENCE: Duration = Duration::from_secs(10);

/// So many are enough: more say nothing new, and would need memory.
const MOST: usize = 200_000;

/// For so long the second client has been waiting when the first one releases.
const HELD: Duration = Duration::from_millis(20);

/// What was seen so far.
#[derive(Debug)]
pub(super) struct Tally {
    /// What all names of this run begin with.
    names: String,
    uncontended: Mutex<Samples>,
    handoff: Mutex<Samples>,
    count: Arc<AtomicU64>,
    /// When the tasks began, and how long they took.
    tasks: Mutex<Option<(Instant, Option<Duration>)>>,
}

impl Default for Tally {
    fn default() -> Self {
        let drawn = lockwork::OwnerId::random();
        let drawn = drawn.as_bytes()[..8].iter();
        let drawn: String = drawn.map(|byte| format!("{byte:02x}")).collect();
        Self {
            names: format!("lockwork-bench/{drawn}"),
            uncontended: Mutex::default(),
            handoff: Mutex::default(),
            count: Arc::default(),
            tasks: Mutex::default(),
        }
    }
}

impl Tally {
    /// One client takes one lock and gives it back, again and again.
    pub(super) async fn uncontended(&self, locks: &Locks, seconds: u64) -> Result<()> {
        let lock = locks.mutex(format!("{}/alone", self.names));
        let _progress = Progress::show("a lock nobody else wants", seconds);
        // The first one opens connections and makes files.
        taken(&lock).await?.release().await?;
        let end = Instant::now() + Duration::from_secs(seconds);
        for _ in 0..MOST {
            let start = Instant::now();
            if start >= end {
                break;
            }
            taken(&lock).await?.release().await?;
            locked(&self.uncontended).add(start.elapsed());
        }
        Ok(())
    }

    /// Many tasks of one client, each with a lock of its own.
    pub(super) async fn throughput(&self, locks: &Locks, seconds: u64, tasks: u32) -> Result<()> {
        let _progress = Progress::show("many at once", seconds);
        let start = Instant::now();
        let end = start + Duration::from_secs(seconds);
        *locked(&self.tasks) = Some((start, None));
        let mut all = JoinSet::new();
        for number in 0..tasks {
            let lock = locks.mutex(format!("{}/{number}", self.names));
            all.spawn(again_and_again(lock, end, self.count.clone()));
        }
        while let Some(done) = all.join_next().await {
            let died = |error| Error::new(ErrorKind::Unexpected, "a task ended").because(error);
            done.map_err(died)??;
        }
        *locked(&self.tasks) = Some((start, Some(start.elapsed())));
        Ok(())
    }

    /// One client holds a lock, another waits for it: from the release until that one has it.
    pub(super) async fn handoff(&self, clients: [&Locks; 2], seconds: u64) -> Result<()> {
        let name = format!("{}/handed", self.names);
        let [mut here, mut there] = clients.map(|locks| locks.mutex(name.as_str()));
        let _progress = Progress::show("from one to the other", seconds);
        let end = Instant::now() + Duration::from_secs(seconds);
        let mut held = taken(&here).await?;
        while Instant::now() < end {
            let release = async {
                tokio::time::sleep(HELD).await;
                let start = Instant::now();
                held.release().await.map(|()| start)
            };
            let wait = async { Ok((taken(&there).await?, Instant::now())) };
            let (start, (next, granted)) = tokio::try_join!(release, wait)?;
            locked(&self.handoff).add(granted.saturating_duration_since(start));
            held = next;
            std::mem::swap(&mut here, &mut there);
        }
        held.release().await
    }

    /// What came of it.
    pub(super) fn outcome(&self, args: &Bench, info: Info, interrupted: bool) -> Outcome {
        let tasks = *locked(&self.tasks);
        let took = tasks.map(|(start, took)| took.unwrap_or_else(|| start.elapsed()));
        Outcome {
            backend: info.scheme,
            seconds: args.seconds,
            interrupted,
            uncontended: locked(&self.uncontended).clone(),
            handoff: locked(&self.handoff).clone(),
            tasks: args.tasks,
            count: self.count.load(Ordering::Relaxed),
            took: took.unwrap_or_default(),
        }
    }
}

async fn again_and_again(lock: Lock, end: Instant, count: Arc<AtomicU64>) -> Result<()> {
    while Instant::now() < end {
        taken(&lock).await?.release().await?;
        count.fetch_add(1, Ordering::Relaxed);
    }
    Ok(())
}

async fn taken(lock: &Lock) -> Result<Guard> {
    let granted = lock.try_lock_for(PATIENCE).await?;
    granted.ok_or_else(|| {
        let message = "the server did not grant within ten seconds a lock that nobody else wants: is it \
                       overloaded? See `lockwork doctor`, or try fewer --tasks";
        Error::new(ErrorKind::Unavailable, message)
    })
}

fn locked<T>(value: &Mutex<T>) -> MutexGuard<'_, T> {
    // Nothing that can panic runs under these locks.
    value.lock().unwrap_or_else(PoisonError::into_inner)
}
