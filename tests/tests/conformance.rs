//! The conformance suite on every backend there is: `cargo test --test conformance -- memory::`.

use libtest_mimic::Trial;
use lockwork::{
    Locks,
    layers::{Chaos, Metrics, Prefix, Retry, Trace},
};
use lockwork_conformance::{
    Site, at_once,
    backends::{
        azure, file, layered, memory, postgres, postgres_lease, redis, redis_medallion, sqlserver,
        standin,
    },
    trials, wakeup_delay,
};
use std::time::Duration;

fn main() -> std::process::ExitCode {
    let sites = [
        Site::new("memory", memory::start),
        Site::new("memory+trace", || layered::around(memory::start, trace)),
        Site::new("memory+retry", || layered::around(memory::start, retry)),
        Site::new("memory+prefix", || layered::renaming(memory::start, prefix)),
        Site::new("memory+metrics", || layered::around(memory::start, metrics)),
        Site::new("memory+delays", || layered::around(memory::start, delays)),
        Site::new("memory+deaf", memory::deaf),
        Site::new("file", file::told),
        Site::new("file-poll", file::polling),
        Site::new("file+layers", || layered::around(file::told, several)),
        Site::new("lease", standin::lease),
        Site::new("session", standin::session),
        Site::new("postgres", postgres::start),
        Site::new("postgres-least", postgres::least),
        Site::new("postgres-lease", postgres_lease::direct),
        Site::new("postgres-lease-pgbouncer", postgres_lease::pooled),
        Site::new("redis", redis::start),
        Site::new("redis-cluster", redis::cluster),
        Site::new("redis-quorum", redis::quorum),
        Site::new("redis-medallion", redis_medallion::start),
        Site::new("valkey", redis::valkey),
        Site::new("sqlserver", sqlserver::start),
        Site::new("sqlserver-least", sqlserver::least),
        Site::new("sqlserver-medallion", sqlserver::medallion),
        Site::new("sqlserver-babelfish", sqlserver::babelfish),
        Site::new("azure", azure::start),
        Site::new("azure-sequence", azure::sequence),
    ];
    let mut args = libtest_mimic::Arguments::from_args();
    args.test_threads.get_or_insert(at_once());
    if !args.list {
        println!(
            "limits allow for ten times the wake-up delay of {:?}",
            wakeup_delay()
        );
    }
    let taker = env!("CARGO_BIN_EXE_taker").into();
    libtest_mimic::run(&args, spread(trials(&sites, taker))).exit_code()
}

/// Those that run at the same time are on different servers and about different things, as far as that goes; in the same
/// order each time. Cases of backends whose leases last long wait most of the time, so they run among the others; and among
/// the first two thirds of them, lest some be left to wait alone.
fn spread(trials: Vec<Trial>) -> Vec<Trial> {
    let waits = |trial: &Trial| trial.name().starts_with("azure");
    let (waiting, busy): (Vec<_>, Vec<_>) = trials.into_iter().partition(waits);
    let gap = busy.len() * 2 / 3 / (waiting.len() + 1) + 1;
    let mut waiting = mixed(waiting).into_iter();
    let mut all = Vec::new();
    for (number, trial) in mixed(busy).into_iter().enumerate() {
        if number % gap == 0 {
            all.extend(waiting.next());
        }
        all.push(trial);
    }
    all.extend(waiting);
    all
}

/// Of so many that follow each other, each is from another part of the list: mostly of another server. Not of as many as
/// there are servers, lest all of them be asked the same at once.
const ROUND: usize = 18;

/// Neighbours are taken apart.
fn mixed(trials: Vec<Trial>) -> Vec<Trial> {
    let apart = trials.len().div_ceil(ROUND).max(1);
    let mut numbered: Vec<_> = trials.into_iter().enumerate().collect();
    numbered.sort_by_key(|(number, _)| number % apart);
    numbered.into_iter().map(|(_, trial)| trial).collect()
}

fn trace(locks: &Locks) -> Locks {
    locks.layer(Trace::new())
}

fn retry(locks: &Locks) -> Locks {
    locks.layer(Retry::new())
}

fn prefix(locks: &Locks) -> Locks {
    locks.layer(Prefix::new("suite/").expect("a prefix"))
}

fn metrics(locks: &Locks) -> Locks {
    locks.layer(Metrics::new())
}

fn several(locks: &Locks) -> Locks {
    metrics(&retry(&trace(locks)))
}

/// Late, but by less than the cases wait between those who must come in order.
fn delays(locks: &Locks) -> Locks {
    locks.layer(Chaos::new(5).delay(0.1, Duration::from_millis(3)))
}
