//! A thousand tasks of one process waiting for one lock.

use super::baton::{self, Baton};
use crate::{
    cell::{Figure, Fold, Outcome, Turns, Unit},
    cells::one_thread,
};
use lockwork::{Locks, Memory};
use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};
use tokio::task::{JoinSet, yield_now};

pub(super) const TOTAL: Figure = Figure {
    name: "total",
    unit: Unit::Nanoseconds,
    over_rounds: Fold::Median,
};

/// How many requests the backend saw waiting at most.
pub(super) const SEEN: Figure = Figure {
    name: "waiting at the backend",
    unit: Unit::Count,
    over_rounds: Fold::Max,
};

/// Another `Locks` on the same backend holds the lock first, as another process would: so the
/// thousand do not only wait for one of their own.
pub(super) fn subject() -> Outcome<Turns> {
    let (runtime, memory) = (one_thread()?, Memory::new());
    let ours = Locks::new(memory.clone()).mutex("crowded");
    let theirs = Locks::new(memory).mutex("crowded");
    Ok(Box::new(move |tasks| {
        let took = runtime.block_on(crowd(&theirs, &ours, tasks, &None))?;
        let seen = Some(Arc::new(AtomicUsize::new(0)));
        runtime.block_on(crowd(&theirs, &ours, tasks, &seen))?;
        let seen = seen.map_or(0, |seen| seen.load(Ordering::Relaxed));
        Ok(vec![took.as_nanos() as f64, seen as f64])
    }))
}

pub(super) fn floor() -> Outcome<Turns> {
    let (runtime, mutex) = (one_thread()?, Arc::new(tokio::sync::Mutex::new(())));
    Ok(Box::new(move |tasks| {
        let took = runtime.block_on(crowd(&mutex, &mutex, tasks, &None))?;
        Ok(vec![took.as_nanos() as f64])
    }))
}

/// Where the most waiters seen at the backend are noted, if anybody is to look.
type Seen = Option<Arc<AtomicUsize>>;

/// Lets so many tasks queue up behind `theirs`, and all take their turns. Says how long that took
/// from the first one's start to the last one's end.
async fn crowd<B: Baton>(theirs: &B, ours: &B, tasks: u64, seen: &Seen) -> Outcome<Duration> {
    let held = theirs.take().await?;
    let begun = Instant::now();
    let queued = Arc::new(AtomicU64::new(0));
    let mut crowd = JoinSet::new();
    for _ in 0..tasks {
        crowd.spawn(one_of_them(ours.clone(), queued.clone(), seen.clone()));
    }
    while queued.load(Ordering::Relaxed) < tasks {
        yield_now().await;
    }
    look(ours, seen).await?;
    drop(held);
    while let Some(left) = crowd.join_next().await {
        left??;
    }
    Ok(begun.elapsed())
}

async fn one_of_them<B: Baton>(baton: B, queued: Arc<AtomicU64>, seen: Seen) -> Outcome<()> {
    let mut first_time = true;
    let guard = baton::take(&baton, || {
        queued.fetch_add(u64::from(first_time), Ordering::Relaxed);
        first_time = false;
    })
    .await?;
    look(&baton, &seen).await?;
    drop(guard);
    Ok(())
}

async fn look<B: Baton>(baton: &B, seen: &Seen) -> Outcome<()> {
    if let Some(seen) = seen {
        seen.fetch_max(baton.waiting().await?, Ordering::Relaxed);
    }
    Ok(())
}
