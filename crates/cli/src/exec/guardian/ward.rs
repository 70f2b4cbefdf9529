//! The command and its group, in the guardian's care: what has happened to them, and what is due.

use super::watch::Watch;
use crate::{
    exec::{
        group::{self, Change},
        parent,
        pipe::{self, Teller},
        signals,
        stage::{self, RUNNER, this_program},
        terminal::{Terminal, is_interactive},
        wire::{News, Order},
    },
    exit,
};
use lockwork::Instant;
use nix::{sys::signal::Signal, unistd::Pid};
use std::{io, time::Duration};

/// Sleeps are no longer than this: the timers underneath stop while the machine is suspended, and
/// a lease does not.
const LONGEST_NAP: Duration = Duration::from_secs(1);
/// How often to look whether the rest of the group is gone. Mostly a signal tells before.
const DRAINING_NAP: Duration = Duration::from_millis(10);

/// The command and its group, in the guardian's care.
pub(super) struct Ward {
    exec: Pid,
    /// The group `exec` is in: that of a job of the user's shell.
    job: Pid,
    group: Pid,
    terminal: Terminal,
    /// Whether the terminal is the command's whenever it is ours.
    is_interactive: bool,
    news: Teller,
    watch: Watch,
    /// The exit code of the command, once it has ended.
    code: Option<u8>,
    /// Whether nobody is left to give orders.
    pub(super) is_orphaned: bool,
}

impl Ward {
    pub(super) fn start(told: &stage::Guardian, news: Teller) -> io::Result<Self> {
        let terminal = Terminal::open();
        let job = signals::group_of(told.exec).unwrap_or(told.exec);
        let is_interactive = is_interactive();
        let runner = stage::Runner {
            guardian: Pid::this(),
            news: told.news,
            terminal: is_interactive && terminal.is_of(job),
            close: told.close.clone(),
            command: told.command.clone(),
        };
        let child = this_program(RUNNER)?.args(runner.args()).spawn()?;
        pipe::close(told.news);
        let group = i32::try_from(child.id()).map_err(io::Error::other)?;
        Ok(Self {
            exec: told.exec,
            job,
            group: Pid::from_raw(group),
            terminal,
            is_interactive,
            news,
            watch: Watch::new(Instant::now(), told.until, told.grace),
            code: None,
            is_orphaned: false,
        })
    }

    pub(super) fn obey(&mut self, order: Option<Order>) {
        match order {
            Some(Order::Until(until)) => self.watch.renewed(until),
            Some(Order::Lost) => self.watch.end_at_once(),
            Some(Order::Signal(Signal::SIGCONT)) => self.go_on(),
            Some(Order::Signal(signal)) => group::send(self.group, signal),
            None => self.orphaned(),
        }
    }

    /// Nobody keeps the lock any more.
    fn orphaned(&mut self) {
        self.is_orphaned = true;
        self.watch.end_at_once();
    }

    pub(super) fn look_for_exec(&mut self) {
        if !parent::is(self.exec) {
            self.orphaned();
        }
    }

    /// What has happened, and what is due.
    pub(super) fn look(&mut self) {
        while let Some((pid, change)) = group::reap() {
            match change {
                _ if pid != self.group => {}
                Change::Ended(code) => {
                    self.code = Some(code);
                    self.watch.command_ended(Instant::now());
                }
                Change::Stopped(by) => self.stopped(by),
            }
        }
        match self.watch.due(Instant::now()) {
            Some(Signal::SIGTERM) => group::ask_to_end(self.group),
            Some(signal) => group::send(self.group, signal),
            None => {}
        }
    }

    /// Ctrl-Z is for `exec` as well, so that the shell comes back; a command that wants the
    /// terminal gets it if it is ours to give. Whoever stops it otherwise has reasons.
    fn stopped(&self, by: Signal) {
        match by {
            Signal::SIGTTIN | Signal::SIGTTOU if self.terminal.is_of(self.job) => {
                self.terminal.give(self.group);
                group::send(self.group, Signal::SIGCONT);
            }
            Signal::SIGTSTP | Signal::SIGTTIN | Signal::SIGTTOU => self.news.tell(News::Stopped),
            _ => {}
        }
    }

    fn go_on(&self) {
        if self.is_interactive {
            self.terminal.pass(self.job, self.group);
        }
        group::send(self.group, Signal::SIGCONT);
    }

    pub(super) fn nap(&self) -> Duration {
        let longest = if self.code.is_some() {
            DRAINING_NAP
        } else {
            LONGEST_NAP
        };
        let next = self.watch.next().map(Instant::remaining);
        next.map_or(longest, |next| next.min(longest))
    }

    pub(super) fn is_gone(&self) -> bool {
        self.code.is_some() && group::is_gone(self.group)
    }

    pub(super) fn report(&self) {
        self.terminal.pass(self.group, self.job);
        self.news.tell(News::Ended {
            code: self.code.unwrap_or(exit::SYSTEM),
            cut: self.watch.has_cut(),
        });
    }
}
