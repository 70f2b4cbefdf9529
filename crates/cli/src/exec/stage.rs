//! Being the guardian or the runner: what they are told when they are started, and by whom.

use super::{guardian, moment, runner, start::GUARDIAN};
use lockwork::Instant;
use nix::unistd::Pid;
use std::{
    ffi::{OsStr, OsString},
    io,
    os::{fd::RawFd, unix::process::CommandExt},
    path::Path,
    process::{Command, ExitCode},
    str::FromStr,
    time::Duration,
};

/// The hidden first argument of the runner.
pub(super) const RUNNER: &str = "__run";

/// What the guardian is told.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Guardian {
    pub(super) exec: Pid,
    /// Where orders come from.
    pub(super) orders: RawFd,
    /// Where news go to.
    pub(super) news: RawFd,
    /// Until when the lock is good, where that needs news.
    pub(super) until: Option<Instant>,
    pub(super) grace: Duration,
    /// Descriptors that the command must not have.
    pub(super) close: Vec<RawFd>,
    pub(super) command: Vec<OsString>,
}

/// What the runner is told.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Runner {
    pub(super) guardian: Pid,
    pub(super) news: RawFd,
    /// Whether the terminal is the command's from the beginning.
    pub(super) terminal: bool,
    pub(super) close: Vec<RawFd>,
    pub(super) command: Vec<OsString>,
}

/// Is the guardian or the runner, if the arguments say so.
pub(crate) fn later_stage() -> Option<ExitCode> {
    let mut args = std::env::args_os().skip(1);
    let role = args.next()?;
    let code = if role == GUARDIAN {
        Guardian::from_args(args).map(|told| guardian::main(&told))
    } else if role == RUNNER {
        Runner::from_args(args).map(|told| runner::main(&told))
    } else {
        return None;
    };
    // Somebody typed it by hand.
    Some(code.unwrap_or(crate::exit::USAGE).into())
}

/// This very program, started once more: also when its file was replaced meanwhile.
pub(crate) fn this_program(role: &str) -> io::Result<Command> {
    let itself = Path::new("/proc/self/exe");
    let program = if itself.exists() {
        itself.to_owned()
    } else {
        std::env::current_exe()?
    };
    let mut command = Command::new(program);
    command.arg0("lockwork").arg(role).process_group(0);
    Ok(command)
}

impl Guardian {
    pub(super) fn args(&self) -> Vec<OsString> {
        let until = self.until.map(|until| moment::to_number(until).to_string());
        let words = [
            self.exec.to_string(),
            self.orders.to_string(),
            self.news.to_string(),
            until.unwrap_or_else(|| "-".into()),
            self.grace.as_nanos().to_string(),
            list(&self.close),
        ];
        together(words, &self.command)
    }

    fn from_args(mut args: impl Iterator<Item = OsString>) -> Option<Self> {
        Some(Self {
            exec: Pid::from_raw(word(&mut args)?),
            orders: word(&mut args)?,
            news: word(&mut args)?,
            until: match args.next()?.to_str()? {
                "-" => None,
                nanos => Some(moment::from_number(nanos.parse().ok()?)),
            },
            grace: Duration::from_nanos(word(&mut args)?),
            close: unlist(args.next()?.to_str()?)?,
            command: args.collect(),
        })
    }
}

impl Runner {
    pub(super) fn args(&self) -> Vec<OsString> {
        let words = [
            self.guardian.to_string(),
            self.news.to_string(),
            self.terminal.to_string(),
            list(&self.close),
        ];
        together(words, &self.command)
    }

    fn from_args(mut args: impl Iterator<Item = OsString>) -> Option<Self> {
        Some(Self {
            guardian: Pid::from_raw(word(&mut args)?),
            news: word(&mut args)?,
            terminal: word(&mut args)?,
            close: unlist(args.next()?.to_str()?)?,
            command: args.collect(),
        })
    }
}

fn together<const N: usize>(words: [String; N], command: &[OsString]) -> Vec<OsString> {
    let words = words.into_iter().map(OsString::from);
    words.chain(command.iter().cloned()).collect()
}

fn word<T: FromStr>(args: &mut impl Iterator<Item = OsString>) -> Option<T> {
    args.next().as_deref().and_then(OsStr::to_str)?.parse().ok()
}

fn list(numbers: &[RawFd]) -> String {
    let numbers: Vec<_> = numbers.iter().map(ToString::to_string).collect();
    numbers.join(",")
}

fn unlist(text: &str) -> Option<Vec<RawFd>> {
    let numbers = text.split(',').filter(|number| !number.is_empty());
    numbers.map(|number| number.parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_guardian_understands_what_it_is_told() {
        let told = |until, close| Guardian {
            exec: Pid::from_raw(1),
            orders: 5,
            news: 6,
            until,
            grace: Duration::from_millis(5),
            close,
            command: vec!["ls".into(), "--".into()],
        };
        for told in [
            told(None, vec![]),
            told(Some(Instant::from_nanos(77)), vec![7, 8]),
        ] {
            let args = told.args().into_iter();
            assert_eq!(Guardian::from_args(args), Some(told));
        }
    }

    #[test]
    fn the_runner_understands_what_it_is_told() {
        let told = Runner {
            guardian: Pid::from_raw(1),
            news: 6,
            terminal: true,
            close: vec![9],
            command: vec!["ls".into()],
        };
        let args = told.args().into_iter();
        assert_eq!(Runner::from_args(args), Some(told));
    }

    #[test]
    fn what_somebody_types_by_hand_is_refused() {
        assert_eq!(Guardian::from_args(["x".into()].into_iter()), None);
        assert_eq!(Runner::from_args(std::iter::empty()), None);
    }
}
