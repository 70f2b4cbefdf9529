//! The guardian: ends the command when the lock ends, whatever becomes of `exec`.
//!
//! It writes to nobody who may keep it waiting: a full pipe on standard error would outlast a lease.

mod ward;
mod watch;

use self::ward::Ward;
use super::{
    parent,
    pipe::{Ear, Teller},
    signals::{self, Signals},
    stage,
    wire::{News, Order},
};
use crate::exit;
use lockwork::Instant;
use nix::sys::signal::Signal;
use std::io;
use tokio::{
    signal::unix::{SignalKind, signal},
    time::sleep,
};

/// After so many orders at once it is time to look at the clock.
const MANY_ORDERS: usize = 1000;
/// What the parent's death sends. It is heard with others that must not end the guardian.
const PARENT_DIED: Signal = Signal::SIGTERM;

/// Runs the command and watches over it. The exit code matters to nobody.
pub(super) fn main(told: &stage::Guardian) -> u8 {
    parent::call_oneself_lockwork();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    // If it fails, `exec` reads the end of the news.
    let done = runtime.and_then(|runtime| runtime.block_on(run(told)));
    done.map_or(exit::SYSTEM, |()| 0)
}

async fn run(told: &stage::Guardian) -> io::Result<()> {
    // All that `exec` passes on, so that `pkill lockwork` ends the command and not its guardian.
    let mut knocks = Signals::listen(signals::PASSED_ON)?;
    let mut children = signal(SignalKind::child())?;
    if !parent::tie(told.exec, PARENT_DIED) {
        return Ok(());
    }
    parent::adopt_orphans();
    let mut orders = Ear::adopt(told.orders)?;
    let news = Teller::adopt(told.news)?;
    if told.until.is_some_and(Instant::has_passed) {
        let code = signals::code(Signal::SIGKILL);
        news.tell(News::Ended { code, cut: true });
        return Ok(());
    }
    let mut ward = Ward::start(told, news)?;
    while !ward.is_gone() {
        tokio::select! {
            order = orders.next(), if !ward.is_orphaned => ward.obey(order),
            _ = children.recv() => {}
            _ = knocks.next() => ward.look_for_exec(),
            () = sleep(ward.nap()) => {}
        }
        hear_the_rest(&mut orders, &mut ward).await;
        ward.look();
    }
    ward.report();
    Ok(())
}

/// After a pause, what was told meanwhile counts before anything is due.
async fn hear_the_rest(orders: &mut Ear<Order>, ward: &mut Ward) {
    // The runtime may have looked at its timers before it looked at the pipe.
    tokio::task::yield_now().await;
    for _ in 0..MANY_ORDERS {
        if ward.is_orphaned {
            return;
        }
        tokio::select! {
            biased;
            order = orders.next() => ward.obey(order),
            () = std::future::ready(()) => return,
        }
    }
}
