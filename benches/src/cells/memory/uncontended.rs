//! Taking a lock that nobody else wants, again and again.

use crate::{
    cell::{Figure, Fold, Outcome, Side, Turns, Unit},
    cells::{one_thread, time_each},
    process,
};
use lockwork::{Locks, Memory};
use std::{
    collections::HashMap,
    hint::black_box,
    pin::Pin,
    process::Command,
    sync::{Arc, Mutex, PoisonError},
    time::Instant,
};
use tokio::sync::OwnedMutexGuard;

pub(super) const ALLOCATIONS: Figure = Figure {
    name: "allocations",
    unit: Unit::Count,
    over_rounds: Fold::Max,
};

pub(super) const BYTES: Figure = Figure {
    name: "bytes",
    unit: Unit::Count,
    over_rounds: Fold::Max,
};

/// What any lock by name behind a pointer must do: find it, take it, make a future of unknown
/// type, and know when.
pub(super) const FLOOR: Side = Side {
    label: "name look-up + lock_owned + boxed future + two clock reads",
    start: floor,
};

/// So many names that neither a cache of one nor the processor's own answers for them.
fn names() -> Vec<String> {
    (0..1_000)
        .map(|n| format!("invoices/2026/{n:04}"))
        .collect()
}

fn pick<T>(from: &[T], turn: u64) -> &T {
    &from[turn as usize % from.len()]
}

pub(super) fn handle_made() -> Outcome<Turns> {
    let (runtime, locks, names) = (one_thread()?, Locks::new(Memory::new()), names());
    Ok(Box::new(move |operations| {
        time_each(&runtime, operations, async |turn| {
            drop(locks.mutex(pick(&names, turn).as_str()).lock().await?);
            Ok(())
        })
    }))
}

pub(super) fn released() -> Outcome<Turns> {
    let (runtime, locks, names) = (one_thread()?, Locks::new(Memory::new()), names());
    Ok(Box::new(move |operations| {
        time_each(&runtime, operations, async |turn| {
            let guard = locks.mutex(pick(&names, turn).as_str()).lock().await?;
            Ok(guard.release().await?)
        })
    }))
}

pub(super) fn handle_kept() -> Outcome<Turns> {
    let (runtime, locks) = (one_thread()?, Locks::new(Memory::new()));
    let handles: Vec<_> = names().iter().map(|name| locks.mutex(name)).collect();
    Ok(Box::new(move |operations| {
        time_each(&runtime, operations, async |turn| {
            drop(pick(&handles, turn).lock().await?);
            Ok(())
        })
    }))
}

/// Asks a process of its own, whose allocator counts: what is timed here does not pay for that.
pub(super) fn allocations() -> Outcome<Turns> {
    let program = process::program("lockwork-bench-allocations")?;
    Ok(Box::new(move |operations| {
        let counted = Command::new(&program)
            .arg(operations.to_string())
            .output()?;
        let counted = String::from_utf8(counted.stdout)?;
        let totals = counted.split_whitespace().map(str::parse::<f64>);
        let each = totals.map(|total| total.map(|total| total / operations as f64));
        Ok(each.collect::<Result<Vec<_>, _>>()?)
    }))
}

fn floor() -> Outcome<Turns> {
    type Table = Mutex<HashMap<String, Arc<tokio::sync::Mutex<()>>>>;
    type Taking = Pin<Box<dyn Future<Output = OwnedMutexGuard<()>> + Send>>;
    let (runtime, names) = (one_thread()?, names());
    let table: Table = Mutex::new(names.iter().cloned().map(|n| (n, Arc::default())).collect());
    let find = move |name: &str| {
        let table = table.lock().unwrap_or_else(PoisonError::into_inner);
        table.get(name).cloned().ok_or("every name is in the table")
    };
    Ok(Box::new(move |operations| {
        time_each(&runtime, operations, async |turn| {
            black_box(Instant::now());
            let mutex = find(pick(&names, turn).as_str())?;
            let taking: Taking = Box::pin(async move { mutex.lock_owned().await });
            let guard = black_box(taking).await;
            black_box(Instant::now());
            drop(guard);
            Ok(())
        })
    }))
}
