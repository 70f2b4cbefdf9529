//! What is measured: one module for each backend or layer, one table of cells in each.
//!
//! What all of them share is here: the runtimes, and the clock.

mod crowd;
mod engine;
mod file;
mod handoff;
mod memory;
mod pair;
mod postgres;
mod redis;
mod served;
mod store;
mod workflow;

use crate::{
    cell::{Cell, Figure, Fold, Outcome, Unit},
    process::Line,
};
use pair::{Cores, Setting};
use std::{
    path::{Path, PathBuf},
    time::{Duration, Instant},
};
use tempfile::TempDir;
use tokio::runtime::{Builder, Runtime};

/// All cells, in the order in which they are measured.
pub(crate) fn all() -> impl Iterator<Item = &'static Cell> {
    let all = memory::CELLS.iter().chain(engine::CELLS);
    let all = all.chain(file::CELLS).chain(postgres::CELLS);
    all.chain(redis::CELLS)
        .chain(workflow::CELLS)
        .chain(store::CELLS)
}

/// What there is to know of the servers that `cells` need, which it starts: a line for each.
pub(crate) fn servers(cells: &[&Cell]) -> Outcome<Vec<String>> {
    type About = fn() -> Outcome<String>;
    let all: [(&str, About); 5] = [
        (postgres::GROUP, postgres::about_server),
        (store::GROUP, postgres::about_server),
        (store::CLUSTER, postgres::about_server),
        (redis::GROUP, redis::about_server),
        (store::CLUSTER, redis::about_server),
    ];
    let needed = |group: &str| cells.iter().any(|cell| cell.group() == group);
    let needed = all.iter().filter(|(group, _)| needed(group));
    needed.map(|(_, about)| about()).collect()
}

/// What a process started by a cell may be told to do.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Role {
    pub(crate) name: &'static str,
    /// Does it, with a directory and a line to whoever started it.
    pub(crate) play: fn(&Path, Line) -> Outcome<()>,
}

/// All roles.
pub(crate) fn roles() -> impl Iterator<Item = Role> {
    let all = file::ROLES
        .iter()
        .chain(postgres::ROLES)
        .chain(redis::ROLES);
    all.copied().flatten().chain(served::ROLES).copied()
}

/// The time one operation takes.
const EACH: Figure = Figure {
    name: "each",
    unit: Unit::Nanoseconds,
    over_rounds: Fold::Median,
};

/// What half of the operations stay under.
const P50: Figure = Figure {
    name: "p50",
    unit: Unit::Nanoseconds,
    over_rounds: Fold::Median,
};

/// What all but one in a hundred stay under.
const P99: Figure = Figure {
    name: "p99",
    unit: Unit::Nanoseconds,
    over_rounds: Fold::Median,
};

/// What every operation stays under.
const MAX: Figure = Figure {
    name: "max",
    unit: Unit::Nanoseconds,
    over_rounds: Fold::Max,
};

/// At once, and always the same way: where the system puts two processes that wake each other
/// changes from run to run, and a pipe is up to ten times as fast on one core as it is on two.
const ON_TWO_CORES: Setting = Setting {
    cores: Cores::Two,
    pause: Duration::ZERO,
};

/// Where this program is: on a disk, which `/tmp` is not everywhere.
fn beside() -> Outcome<PathBuf> {
    let program = std::env::current_exe()?;
    let beside = program.parent().ok_or("a program is in a directory")?;
    Ok(beside.to_owned())
}

/// A directory for one side of one cell.
fn directory() -> Outcome<TempDir> {
    Ok(tempfile::tempdir_in(beside()?)?)
}

/// Everything on the thread that measures.
fn one_thread() -> Outcome<Runtime> {
    Ok(Builder::new_current_thread().build()?)
}

/// The same with timers and pipes, and threads for as many blocking calls as any cell makes.
fn everything_on_one_thread() -> Outcome<Runtime> {
    let mut builder = Builder::new_current_thread();
    Ok(builder.enable_all().max_blocking_threads(2_000).build()?)
}

/// Two workers beside the thread that measures, which only waits for them.
fn two_workers() -> Outcome<Runtime> {
    Ok(Builder::new_multi_thread().worker_threads(2).build()?)
}

/// Does `work` so often, one after the other, and yields the nanoseconds each took: [`EACH`].
fn time_each(
    runtime: &Runtime,
    operations: u64,
    work: impl AsyncFn(u64) -> Outcome<()>,
) -> Outcome<Vec<f64>> {
    let begun = Instant::now();
    runtime.block_on(repeat(operations, work))?;
    Ok(vec![begun.elapsed().as_nanos() as f64 / operations as f64])
}

/// Does `work` so often; it is told how often it has been done.
async fn repeat(operations: u64, work: impl AsyncFn(u64) -> Outcome<()>) -> Outcome<()> {
    for done in 0..operations {
        work(done).await?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cell::Bar;

    use std::collections::HashSet;

    #[test]
    fn every_cell_has_a_name_of_its_own_in_a_group() {
        let names: HashSet<&str> = all().map(|cell| cell.name).collect();
        assert_eq!(names.len(), all().count());
        assert!(all().all(|cell| cell.name != cell.group()));
    }

    #[test]
    fn every_cell_yields_its_figures() {
        for cell in all() {
            let found = (cell.subject.start)().unwrap()(20).unwrap();
            assert_eq!(found.len(), cell.figures.len(), "{}", cell.name);
            if let Some(floor) = &cell.floor {
                let found = (floor.start)().unwrap()(20).unwrap();
                assert!(!found.is_empty(), "{}", cell.name);
            }
        }
    }

    fn has(cell: &Cell, figure: &str) -> bool {
        cell.figures.iter().any(|f| f.name == figure)
    }

    #[test]
    fn every_bar_is_about_something_that_is_measured() {
        for cell in all() {
            match &cell.bar {
                None => {}
                Some(Bar::Ratio(_)) => assert!(cell.floor.is_some(), "{}", cell.name),
                Some(Bar::Figure(name, _)) => assert!(has(cell, name), "{}", cell.name),
                Some(Bar::Figures(limits)) => {
                    let all = limits.iter().all(|(name, _)| has(cell, name));
                    assert!(all, "{}", cell.name);
                }
            }
        }
    }
}
