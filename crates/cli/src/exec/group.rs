//! The command's process group, seen from outside.

use nix::{
    errno::Errno,
    sys::{
        signal::{Signal, killpg},
        wait::{WaitPidFlag, WaitStatus, waitpid},
    },
    unistd::Pid,
};

/// What became of a child.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Change {
    /// It ended, with this exit code as shells count.
    Ended(u8),
    /// It was stopped.
    Stopped(Signal),
}

/// Sends `signal` to every member of `group`.
pub(super) fn send(group: Pid, signal: Signal) {
    // Gone already, or run by somebody whom we may not signal: then there is only waiting.
    let _ = killpg(group, signal);
}

/// Asks every member of `group` to end. One that is stopped has to be woken up to do so.
pub(super) fn ask_to_end(group: Pid) {
    send(group, Signal::SIGTERM);
    send(group, Signal::SIGCONT);
}

/// Whether nobody is left in `group`. A child that ended counts until it was [reaped](reap).
pub(super) fn is_gone(group: Pid) -> bool {
    killpg(group, None) == Err(Errno::ESRCH)
}

/// The next child something became of, if any.
pub(super) fn reap() -> Option<(Pid, Change)> {
    loop {
        match waitpid(None, Some(WaitPidFlag::WNOHANG | WaitPidFlag::WUNTRACED)) {
            Ok(WaitStatus::Exited(pid, code)) => {
                let code = u8::try_from(code).unwrap_or(u8::MAX);
                return Some((pid, Change::Ended(code)));
            }
            Ok(WaitStatus::Signaled(pid, signal, _)) => {
                return Some((pid, Change::Ended(super::signals::code(signal))));
            }
            Ok(WaitStatus::Stopped(pid, signal)) => return Some((pid, Change::Stopped(signal))),
            Ok(WaitStatus::StillAlive) | Err(_) => return None,
            Ok(_) => {}
        }
    }
}
