//! The guardian: ends the command when the lock ends, whatever becomes of `exec`.
//!
//! It writes to nobody who may keep it waiting: a full pipe on standard error would outlast a lease.

mod watch;

use self::watch::Watch;
use super::{
    group::{self, Change},
    parent,
    pipe::{self, Ear, Teller},
    signals::{self, Signals},
    stage::{self, RUNNER, this_program},
    terminal::{Terminal, is_interactive},
    wire::{News, Order},
};
use crate::exit;
use lockwork::Instant;
use nix::{sys::signal::Signal, unistd::Pid};
use std::{io, time::Duration};
use tokio::{
    signal::unix::{SignalKind, signal},
    time::sleep,
};

/// Sleeps are no longer than this: the timers underneath stop while the machine is suspended, and
/// a lease does not.
const LONGEST_NAP: Duration = Duration::from_secs(1);
/// How often to look whether the rest of the group is gone. Mostly a signal tells before.
const DRAINING_NAP: Duration = Duration::from_millis(10);
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
        ward.look();
    }
    ward.report();
    Ok(())
}

/// The command and its group, in the guardian's care.
struct Ward {
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
    is_orphaned: bool,
}

impl Ward {
    fn start(told: &stage::Guardian, news: Teller) -> io::Result<Self> {
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

    fn obey(&mut self, order: Option<Order>) {
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

    fn look_for_exec(&mut self) {
        if !parent::is(self.exec) {
            self.orphaned();
        }
    }

    /// What has happened, and what is due.
    fn look(&mut self) {
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

    fn nap(&self) -> Duration {
        let longest = if self.code.is_some() {
            DRAINING_NAP
        } else {
            LONGEST_NAP
        };
        let next = self.watch.next().map(Instant::remaining);
        next.map_or(longest, |next| next.min(longest))
    }

    fn is_gone(&self) -> bool {
        self.code.is_some() && group::is_gone(self.group)
    }

    fn report(&self) {
        self.terminal.pass(self.group, self.job);
        self.news.tell(News::Ended {
            code: self.code.unwrap_or(exit::SYSTEM),
            cut: self.watch.has_cut(),
        });
    }
}
