//! What `exec` does while the command runs: passes signals on, tells the guardian how long the
//! lock is good, and ends the command itself where the guardian does not.

use super::{
    group,
    signals::{self, Signals},
    start::Guardian,
    terminal::Terminal,
    wire::{News, Order},
};
use lockwork::{Guard, Instant};
use nix::{
    sys::signal::Signal,
    unistd::{Pid, getpgrp},
};
use std::{future::IntoFuture, time::Duration};
use tokio::time::{sleep, timeout};

/// How the command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// As the guardian tells.
    Told { code: u8, cut: bool },
    /// With the guardian.
    Unguarded {
        /// Whether the guardian had got as far as starting it.
        started: bool,
    },
}

/// How often to look whether the lock was renewed.
const SHORTEST_LOOK: Duration = Duration::from_millis(10);
const LONGEST_LOOK: Duration = Duration::from_secs(1);
/// How long the guardian may take to tell that it killed the command, before we do not believe it
/// awake.
const ANSWERS_WITHIN: Duration = Duration::from_secs(2);

/// Until the command and all of its group are gone.
pub(super) async fn supervise(mut guardian: Guardian, guard: &Guard, signals: &mut Signals) -> End {
    let mut group = None;
    let mut lost = guard.lost().into_future();
    let mut told = guard.valid_until();
    loop {
        tokio::select! {
            biased;
            news = guardian.news.next() => match news {
                Some(News::Group(pid)) => group = Some(pid),
                Some(News::Stopped) => {
                    signals::suspend();
                    guardian.orders.tell(Order::Signal(Signal::SIGCONT));
                }
                Some(News::Ended { code, cut }) => return End::Told { code, cut },
                None => return unguarded(group).await,
            },
            _ = &mut lost => return cut_short(&mut guardian, group).await,
            signal = signals.next() => guardian.orders.tell(Order::Signal(signal)),
            () = sleep(next_look(told)) => {
                let until = guard.valid_until();
                if let Some(until) = until.filter(|_| until != told) {
                    guardian.orders.tell(Order::Until(until));
                }
                told = until;
            }
        }
    }
}

/// The nearer the end, the more often; the guardian asks the command to end only in the last third.
fn next_look(until: Option<Instant>) -> Duration {
    let left = until.map_or(LONGEST_LOOK, Instant::remaining);
    (left / 8).clamp(SHORTEST_LOOK, LONGEST_LOOK)
}

/// The lock is lost: somebody else may have it by now, so there is no time for SIGTERM.
async fn cut_short(guardian: &mut Guardian, mut group: Option<Pid>) -> End {
    guardian.orders.tell(Order::Lost);
    let answer = timeout(ANSWERS_WITHIN, async {
        loop {
            // The guardian does so too, unless somebody froze it.
            if let Some(group) = group {
                group::send(group, Signal::SIGKILL);
            }
            match guardian.news.next().await {
                Some(News::Group(pid)) => group = Some(pid),
                Some(News::Stopped) => {}
                Some(News::Ended { code, .. }) => return End::Told { code, cut: true },
                None => return unguarded(group).await,
            }
        }
    });
    answer.await.unwrap_or_else(|_| {
        // Frozen, and nothing is left to watch.
        let _ = guardian.process.kill();
        let code = signals::code(Signal::SIGKILL);
        End::Told { code, cut: true }
    })
}

/// The guardian is gone: what it watched ends here, before anybody else gets the lock.
async fn unguarded(group: Option<Pid>) -> End {
    let Some(group) = group else {
        return End::Unguarded { started: false };
    };
    group::send(group, Signal::SIGKILL);
    loop {
        // Its members are this process' children now, where the system has that.
        while group::reap().is_some() {}
        if group::is_gone(group) {
            break;
        }
        sleep(Duration::from_millis(5)).await;
    }
    Terminal::open().pass(group, getpgrp());
    End::Unguarded { started: true }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_is_looked_at_more_often_when_its_time_runs_out() {
        let in_a_while = |seconds| Some(Instant::now() + Duration::from_secs(seconds));
        assert_eq!(next_look(in_a_while(60)), LONGEST_LOOK);
        assert!(next_look(in_a_while(4)) <= Duration::from_millis(500));
        assert_eq!(next_look(Some(Instant::from_nanos(0))), SHORTEST_LOOK);
    }
}
