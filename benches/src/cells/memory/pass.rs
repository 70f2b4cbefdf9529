//! Passing a lock from one task to the next that waits for it.

use super::baton::{self, Baton};
use crate::{
    cell::{Outcome, Turns},
    stats,
};
use lockwork::{Locks, Memory};
use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::Instant,
};
use tokio::{runtime::Runtime, task::yield_now};

pub(super) fn subject(runtime: Runtime) -> Outcome<Turns> {
    let mutex = Locks::new(Memory::new()).mutex("baton");
    Ok(passing(runtime, mutex))
}

pub(super) fn floor(runtime: Runtime) -> Outcome<Turns> {
    Ok(passing(runtime, Arc::new(tokio::sync::Mutex::new(()))))
}

/// Half of the operations are passes of the one task, half of the other.
fn passing<B: Baton>(runtime: Runtime, baton: B) -> Turns {
    Box::new(move |operations| {
        let delays = runtime.block_on(play(&baton, operations.div_ceil(2)))?;
        let at = |percent| stats::percentile(&delays, percent);
        Ok(vec![at(50), at(99)])
    })
}

async fn play<B: Baton>(baton: &B, passes: u64) -> Outcome<Vec<f64>> {
    let table = Arc::new(Table::new());
    let player = |me| tokio::spawn(one_player(baton.clone(), table.clone(), me, passes));
    let (first, second) = (player(0), player(1));
    let mut delays = first.await??;
    delays.extend(second.await??);
    Ok(delays)
}

/// What the two know of each other.
struct Table {
    /// Whether each waits, or has left and need not be waited for.
    waits: [AtomicBool; 2],
    start: Instant,
    /// When the baton was let go last, in nanoseconds since the start.
    let_go: AtomicU64,
}

impl Table {
    fn new() -> Self {
        Self {
            waits: Default::default(),
            start: Instant::now(),
            let_go: AtomicU64::new(0),
        }
    }

    fn now(&self) -> u64 {
        self.start.elapsed().as_nanos() as u64
    }
}

async fn one_player<B: Baton>(
    baton: B,
    table: Arc<Table>,
    me: usize,
    passes: u64,
) -> Outcome<Vec<f64>> {
    let (mine, other) = (&table.waits[me], &table.waits[1 - me]);
    let mut delays = Vec::with_capacity(passes as usize);
    for _ in 0..passes {
        let guard = baton::take(&baton, || mine.store(true, Ordering::Release)).await?;
        let taken = table.now();
        // The very first is not handed over: it lies there.
        if mine.swap(false, Ordering::AcqRel) {
            delays.push((taken - table.let_go.load(Ordering::Acquire)) as f64);
        }
        while !other.load(Ordering::Acquire) {
            yield_now().await;
        }
        table.let_go.store(table.now(), Ordering::Release);
        drop(guard);
        // So that queueing up again is not counted as part of the pass.
        yield_now().await;
    }
    mine.store(true, Ordering::Release);
    Ok(delays)
}
