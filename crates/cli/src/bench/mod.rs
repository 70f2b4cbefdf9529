//! `lockwork bench`: how fast the locks are, from here, with the server that is there.
//!
//! Three questions, for some seconds each: what a lock costs that nobody else wants, how many a second there are
//! when many are at work, and how long after a release the next one has it.

mod measure;
mod progress;
mod report;
mod samples;

use crate::{args::Bench, connect::connect, exit::Ended, node::signals::Signals, show};
use lockwork::{Locks, Registry, Result, Scope};
use measure::Tally;
use std::time::Duration;

/// How long the last releases may take to arrive.
const ENDING: Duration = Duration::from_secs(10);

pub(crate) async fn run(registry: &Registry, args: Bench) -> Ended {
    let mut signals = Signals::listen()?;
    let tally = Tally::default();
    let mut clients = Vec::new();
    // A measurement may be dropped anywhere: what it holds is given back.
    let ended = tokio::select! {
        number = signals.next() => Err(number),
        done = measured(registry, &args, &mut clients, &tally) => Ok(done),
    };
    for locks in &clients {
        let _ = tokio::time::timeout(ENDING, locks.close()).await;
    }
    let interrupted = match ended {
        Ok(done) => done.map(|()| None)?,
        Err(number) => Some(number),
    };
    let Some(locks) = clients.first() else {
        return Ok(code(interrupted));
    };
    let outcome = tally.outcome(&args, locks.info(), interrupted.is_some());
    match args.json {
        true => show::print(outcome.json()),
        false => outcome.print(),
    }
    Ok(code(interrupted))
}

/// As a shell says that a signal ended something.
fn code(signal: Option<i32>) -> u8 {
    signal.map_or(0, |number| u8::try_from(128 + number).unwrap_or(u8::MAX))
}

async fn measured(
    registry: &Registry,
    args: &Bench,
    clients: &mut Vec<Locks>,
    tally: &Tally,
) -> Result<()> {
    // Two, so that a lock goes from one to the other by the server and not within the process.
    for _ in 0..2 {
        clients.push(connect(registry, &args.place).await?);
    }
    let [first, second] = &clients[..] else {
        return Ok(());
    };
    if first.info().scope == Scope::Process {
        show::say("these locks are within this process: no server is measured");
    }
    tally.uncontended(first, args.seconds).await?;
    tally.throughput(first, args.seconds, args.tasks).await?;
    tally.handoff([first, second], args.seconds).await
}
