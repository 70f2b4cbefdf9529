//! Who may read from the terminal: one process group at a time, and the command should be in it.

use nix::{
    sys::signal::{SigSet, SigmaskHow, Signal, pthread_sigmask},
    unistd::{Pid, tcgetpgrp, tcsetpgrp},
};
use std::{
    fs::{File, OpenOptions},
    io::{IsTerminal, stdin, stdout},
};

/// The terminal this session has, if any.
#[derive(Debug)]
pub(super) struct Terminal(Option<File>);

impl Terminal {
    pub(super) fn open() -> Self {
        let tty = OpenOptions::new().read(true).write(true).open("/dev/tty");
        Self(tty.ok())
    }

    /// Whether `group` has the terminal.
    pub(super) fn is_of(&self, group: Pid) -> bool {
        let tty = self.0.as_ref();
        tty.is_some_and(|tty| tcgetpgrp(tty) == Ok(group))
    }

    /// Hands it from one group to another, if `from` has it.
    pub(super) fn pass(&self, from: Pid, to: Pid) {
        if self.is_of(from) {
            self.give(to);
        }
    }

    /// Hands it to `group`.
    pub(super) fn give(&self, group: Pid) {
        let Some(tty) = &self.0 else { return };
        let mut before = SigSet::empty();
        let mut ttou = SigSet::empty();
        ttou.add(Signal::SIGTTOU);
        // Whoever does this from the background is stopped by SIGTTOU unless it is blocked:
        // tcsetpgrp(3). An error leaves the terminal where it is, and on demand this is tried again.
        let _ = pthread_sigmask(SigmaskHow::SIG_BLOCK, Some(&ttou), Some(&mut before));
        let _ = tcsetpgrp(tty, group);
        let _ = pthread_sigmask(SigmaskHow::SIG_SETMASK, Some(&before), None);
    }
}

/// Whether somebody sits at both ends of the command. In `exec … | less` the terminal is `less`'s.
pub(super) fn is_interactive() -> bool {
    stdin().is_terminal() && stdout().is_terminal()
}
