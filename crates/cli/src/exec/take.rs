//! Getting the lock, for a user who may lose patience.

use super::signals::{self, Signals};
use crate::{args::Exec, connect::connect, holders, show};
use lockwork::{Guard, Holders, LockOptions, Locks, Registry, Result};
use nix::sys::signal::Signal;
use std::{io::IsTerminal, pin::pin, time::Duration};
use tokio::time::{sleep, timeout};

/// How the asking ended.
pub(super) enum Taken {
    Held(Locks, Guard),
    /// The wait ran out.
    Busy,
    /// A signal came first; nothing is held.
    Interrupted(Signal),
}

/// After so long somebody at a terminal wonders what is going on.
const WONDERS_AFTER: Duration = Duration::from_secs(1);
/// How long an interrupted wait may take to leave the line.
const LEAVES_WITHIN: Duration = Duration::from_secs(2);

pub(super) async fn take(registry: &Registry, args: &Exec, signals: &mut Signals) -> Result<Taken> {
    let locks = match unless_interrupted(connect(registry, &args.place), signals).await {
        Ok(locks) => locks?,
        Err(signal) => return Ok(Taken::Interrupted(signal)),
    };
    match unless_interrupted(acquire(&locks, args), signals).await {
        Ok(guard) => Ok(guard?.map_or(Taken::Busy, |guard| Taken::Held(locks, guard))),
        Err(signal) => {
            // Dropped half way, the request may still be on its way out.
            let _ = timeout(LEAVES_WITHIN, locks.close()).await;
            Ok(Taken::Interrupted(signal))
        }
    }
}

/// Does `work` until a signal comes that asks to end.
async fn unless_interrupted<T: Send>(
    work: impl Future<Output = T> + Send,
    signals: &mut Signals,
) -> Result<T, Signal> {
    let mut work = pin!(work);
    loop {
        tokio::select! {
            biased;
            done = work.as_mut() => return Ok(done),
            signal = signals.next() => match signal {
                Signal::SIGTSTP => signals::suspend(),
                signal if signals::asks_to_end(signal) => return Err(signal),
                _ => {}
            },
        }
    }
}

/// Takes the lock; while that takes long, tells whoever sits at the terminal who has it.
async fn acquire(locks: &Locks, args: &Exec) -> Result<Option<Guard>> {
    let mut asking = pin!(ask(locks, args));
    if std::io::stderr().is_terminal() {
        tokio::select! {
            biased;
            done = asking.as_mut() => return done,
            () = tell_who_holds(locks, args) => {}
        }
    }
    asking.await
}

async fn ask(locks: &Locks, args: &Exec) -> Result<Option<Guard>> {
    let options = LockOptions::new().wait(args.wait);
    match (args.read, args.write, args.permits) {
        (true, _, _) => locks.rw_lock(&args.name).read_with(options).await,
        (_, true, _) => locks.rw_lock(&args.name).write_with(options).await,
        (_, _, Some(permits)) => {
            let semaphore = locks.semaphore(&args.name, permits);
            semaphore.acquire_with(options).await
        }
        _ => locks.mutex(&args.name).lock_with(options).await,
    }
}

async fn tell_who_holds(locks: &Locks, args: &Exec) {
    sleep(WONDERS_AFTER).await;
    let Ok(holders) = who_holds(locks, args).await else {
        return;
    };
    let who: Vec<_> = holders.holders.iter().map(holders::in_words).collect();
    if who.is_empty() {
        show::say(format_args!("waiting for {}", args.name));
    } else {
        let who = who.join(", ");
        show::say(format_args!("waiting for {}, held by {who}", args.name));
    }
}

async fn who_holds(locks: &Locks, args: &Exec) -> Result<Holders> {
    match args.permits {
        _ if args.read || args.write => locks.rw_lock(&args.name).holders().await,
        Some(permits) => locks.semaphore(&args.name, permits).holders().await,
        None => locks.mutex(&args.name).holders().await,
    }
}
