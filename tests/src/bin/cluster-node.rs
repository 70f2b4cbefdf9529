//! One node of a cluster: it runs workflows on the store at one URL by the locks at another, does as it is told, and waits
//! to be killed, frozen, or told to end.
//!
//! Orders and answers are those of `workflow-node`. Steps that begin although the lock of their instance was not good when
//! it was asked last are written to a file, one in a line. After SIGTERM it hands over to others and ends, with 0 if it could in time. The
//! step `stay` takes an hour on one that is called `stays`, ten seconds on `naps`, and no time on others.

use lockwork::{
    Locks,
    distributed::{Distributed, DistributedOptions, DistributedRuntime},
    runtime::{Drained, Options, RuntimeBuilder, Store},
};
use lockwork_conformance::workflows::{
    Orders, asked, definitions, jobs, registry, stay, staying, watched,
};
use std::{error::Error, future::Future, sync::Arc, time::Duration};

/// How long it tries to begin: the lock server may be away just then.
const TRIES: u32 = 100;

#[tokio::main(worker_threads = 2)]
async fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    let [store, locks, name, lease, witness] = &arguments[..] else {
        return Err("usage: cluster-node STORE LOCKS NAME LEASE-MS FILE".into());
    };
    tracing_subscriber::fmt()
        .with_max_level(tracing::Level::ERROR)
        .with_writer(std::io::stderr)
        .init();
    let lease = Duration::from_millis(lease.parse()?);
    let locks = patiently(|| async { lockwork::connect(locks).await }).await?;
    let store = patiently(|| async { lockwork::store::connect(store).await }).await?;
    let runtime = node(store, locks, name, lease, witness)?;
    patiently(|| async { runtime.start().await }).await?;
    tokio::select! {
        biased;
        told = told_to_end() => told?,
        read = Orders::read(&runtime) => return read,
    }
    let drained = runtime.drain().await;
    // What reads the orders is asked for the next one, and does not end before it has it.
    std::process::exit(i32::from(drained != Drained::Done));
}

/// Ends when somebody wants this process to.
#[cfg(unix)]
async fn told_to_end() -> std::io::Result<()> {
    let mut told = tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate())?;
    told.recv().await;
    Ok(())
}

/// Ends when somebody wants this process to.
#[cfg(not(unix))]
async fn told_to_end() -> std::io::Result<()> {
    tokio::signal::ctrl_c().await
}

fn node(
    store: Arc<dyn Store>,
    locks: Locks,
    name: &str,
    lease: Duration,
    witness: &str,
) -> Result<DistributedRuntime, Box<dyn Error>> {
    let mut options = Options::default();
    options.node = name.to_owned();
    // Signals that come before those they are for wait for as long as a run may take.
    options.attempts = 20;
    let mut shared = DistributedOptions::default();
    shared.lease = lease;
    // All nodes of this test are on one machine, so locks in files will do.
    shared.allow_local_locks = true;
    let registry = stay(registry(), stays(name));
    let mut all = definitions()?;
    all.push(staying()?);
    let builder = RuntimeBuilder::new(store).registry(watched(registry, witness.into()));
    let builder = jobs(builder).provider(all).options(options);
    Ok(builder.distributed(asked(&locks), shared)?)
}

fn stays(name: &str) -> Duration {
    match name {
        "stays" => Duration::from_secs(3600),
        "naps" => Duration::from_secs(10),
        _ => Duration::ZERO,
    }
}

async fn patiently<T, E, F: Future<Output = Result<T, E>>>(
    mut attempt: impl FnMut() -> F,
) -> Result<T, E> {
    for _ in 0..TRIES {
        if let Ok(done) = attempt().await {
            return Ok(done);
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    attempt().await
}
