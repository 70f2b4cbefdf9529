//! Dying with one's parent, and looking after its orphans. Both are Linux's alone; elsewhere the
//! end of a pipe has to do.

use nix::{
    sys::signal::Signal,
    unistd::{Pid, getppid},
};

/// From now on `signal` comes when the *thread* that started this process ends. Says whether
/// `parent` is still there: it may have ended before.
///
/// See `PR_SET_PDEATHSIG` in prctl(2); programs with set-user-ID bits or capabilities clear it.
pub(super) fn tie(parent: Pid, signal: Signal) -> bool {
    #[cfg(target_os = "linux")]
    if nix::sys::prctl::set_pdeathsig(signal).is_err() {
        return false;
    }
    #[cfg(not(target_os = "linux"))]
    let _ = signal;
    is(parent)
}

/// Whether `parent` is this process' parent.
pub(super) fn is(parent: Pid) -> bool {
    getppid() == parent
}

/// From now on, descendants whose parents end are this process' children, so that it hears of
/// their end too.
pub(super) fn adopt_orphans() {
    // Without, they are polled for.
    #[cfg(target_os = "linux")]
    let _ = nix::sys::prctl::set_child_subreaper(true);
}

/// So that `ps` and `pkill` know this process, which was started by another name: see
/// [`this_program`](super::stage::this_program).
pub(super) fn call_oneself_lockwork() {
    // Whatever it is called, it does the same.
    #[cfg(target_os = "linux")]
    let _ = nix::sys::prctl::set_name(c"lockwork");
}
