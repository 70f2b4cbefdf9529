//! Hearing signals, and what they ask for.

use nix::{
    sys::signal::{Signal, raise},
    unistd::{Pid, getpgid, getpgrp, getppid, getsid},
};
use std::{future::poll_fn, io, task::Poll};
use tokio::signal::unix::{Signal as Stream, SignalKind, signal};

/// What `exec` hands to the command.
pub(super) const PASSED_ON: &[Signal] = &[
    Signal::SIGHUP,
    Signal::SIGINT,
    Signal::SIGQUIT,
    Signal::SIGTERM,
    Signal::SIGUSR1,
    Signal::SIGUSR2,
    Signal::SIGALRM,
    Signal::SIGWINCH,
    Signal::SIGTSTP,
    Signal::SIGCONT,
];

/// Several signals, heard one by one.
#[derive(Debug)]
pub(super) struct Signals(Vec<(Signal, Stream)>);

impl Signals {
    /// Hears `which` from now on, except those this process was told to ignore when it was
    /// started: by `nohup`, or by a shell that started it in the background. They stay ignored
    /// here, and so in the command.
    pub(super) fn listen(which: &[Signal]) -> io::Result<Self> {
        let ignored = ignored();
        let heard = which
            .iter()
            .filter(|signal| ignored & bit(**signal) == 0)
            .map(|which| Ok((*which, signal(SignalKind::from_raw(*which as i32))?)));
        heard.collect::<io::Result<_>>().map(Self)
    }

    /// The next one. Dropping this loses none.
    pub(super) async fn next(&mut self) -> Signal {
        poll_fn(|cx| {
            let heard = self
                .0
                .iter_mut()
                .find_map(|(signal, stream)| match stream.poll_recv(cx) {
                    Poll::Ready(Some(())) => Some(*signal),
                    _ => None,
                });
            heard.map_or(Poll::Pending, Poll::Ready)
        })
        .await
    }
}

/// Whether a program that has nothing better to do ends by it.
pub(super) const fn asks_to_end(signal: Signal) -> bool {
    matches!(
        signal,
        Signal::SIGHUP | Signal::SIGINT | Signal::SIGQUIT | Signal::SIGTERM
    )
}

/// The exit code that shells give to what ended by `signal`.
pub(super) fn code(signal: Signal) -> u8 {
    u8::try_from(128 + signal as i32).unwrap_or(u8::MAX)
}

/// Stops this process, as Ctrl-Z does, until somebody continues it. Does nothing where no shell
/// would notice and continue it: see `setpgid(2)` on orphaned process groups.
pub(super) fn suspend() {
    let shell = getppid();
    let same_session = getsid(Some(shell)).is_ok_and(|session| Ok(session) == getsid(None));
    if same_session && getpgid(Some(shell)).is_ok_and(|group| group != getpgrp()) {
        // An error would leave it running, which is what the case above does too.
        let _ = raise(Signal::SIGSTOP);
    }
}

/// The group of process `pid`.
pub(super) fn group_of(pid: Pid) -> Option<Pid> {
    getpgid(Some(pid)).ok()
}

const fn bit(signal: Signal) -> u64 {
    1 << (signal as i32 - 1)
}

/// What was ignored when this process began; the system tells no other way without `unsafe`.
#[cfg(target_os = "linux")]
fn ignored() -> u64 {
    std::fs::read_to_string("/proc/self/status").map_or(0, |status| in_status(&status))
}

#[cfg(not(target_os = "linux"))]
const fn ignored() -> u64 {
    0
}

/// See `proc_pid_status(5)`.
#[cfg(target_os = "linux")]
fn in_status(status: &str) -> u64 {
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok())
        .unwrap_or(0)
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn ignored_signals_are_read_from_the_status() {
        let ignored = in_status("Name:\tx\nSigIgn:\t0000000000001001\nSigCgt:\tff\n");
        assert_ne!(ignored & bit(Signal::SIGHUP), 0);
        assert_ne!(ignored & bit(Signal::SIGPIPE), 0);
        assert_eq!(ignored & bit(Signal::SIGTERM), 0);
    }
}
