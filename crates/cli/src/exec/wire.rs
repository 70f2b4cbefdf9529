//! What `exec` and its guardian tell each other, a line at a time.

use super::moment;
use lockwork::Instant;
use nix::{sys::signal::Signal, unistd::Pid};
use std::{fmt, str::FromStr};

/// From `exec` to the guardian.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    /// The lock is good until then. A point in time, not a length: `exec` may be frozen between
    /// writing this and the guardian's reading it, or before.
    Until(Instant),
    /// The lock is lost.
    Lost,
    /// Send this to the command.
    Signal(Signal),
}

/// From the guardian to `exec`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum News {
    /// The command's process group. Told by the runner, before there is a command.
    Group(Pid),
    /// The command was stopped from the terminal.
    Stopped,
    /// The command and all of its group are gone.
    Ended {
        /// As shells count.
        code: u8,
        /// The guardian ended it, for the sake of the lock.
        cut: bool,
    },
}

impl fmt::Display for Order {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Until(when) => write!(f, "until {}", moment::to_number(*when)),
            Self::Lost => f.write_str("lost"),
            Self::Signal(signal) => write!(f, "signal {}", signal.as_str()),
        }
    }
}

impl fmt::Display for News {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Group(group) => write!(f, "group {group}"),
            Self::Stopped => f.write_str("stopped"),
            Self::Ended { code, cut: false } => write!(f, "ended {code}"),
            Self::Ended { code, cut: true } => write!(f, "cut {code}"),
        }
    }
}

/// A line that is none of ours.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Garbled;

impl FromStr for Order {
    type Err = Garbled;
    fn from_str(line: &str) -> Result<Self, Garbled> {
        match line.split_once(' ').unwrap_or((line, "")) {
            ("until", nanos) => Ok(Self::Until(moment::from_number(number(nanos)?))),
            ("lost", "") => Ok(Self::Lost),
            ("signal", name) => name.parse().map(Self::Signal).map_err(|_| Garbled),
            _ => Err(Garbled),
        }
    }
}

impl FromStr for News {
    type Err = Garbled;
    fn from_str(line: &str) -> Result<Self, Garbled> {
        match line.split_once(' ').unwrap_or((line, "")) {
            ("group", group) => Ok(Self::Group(Pid::from_raw(number(group)?))),
            ("stopped", "") => Ok(Self::Stopped),
            (word @ ("ended" | "cut"), code) => Ok(Self::Ended {
                code: number(code)?,
                cut: word == "cut",
            }),
            _ => Err(Garbled),
        }
    }
}

fn number<T: FromStr>(text: &str) -> Result<T, Garbled> {
    text.parse().map_err(|_| Garbled)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_order_reads_as_it_was_written() {
        for order in [
            Order::Until(Instant::from_nanos(u64::MAX)),
            Order::Lost,
            Order::Signal(Signal::SIGWINCH),
        ] {
            assert_eq!(order.to_string().parse(), Ok(order));
        }
    }

    #[test]
    fn news_read_as_they_were_written() {
        for news in [
            News::Group(Pid::from_raw(4711)),
            News::Stopped,
            News::Ended {
                code: 143,
                cut: true,
            },
            News::Ended {
                code: 0,
                cut: false,
            },
        ] {
            assert_eq!(news.to_string().parse(), Ok(news));
        }
    }

    #[test]
    fn anything_else_is_garbled() {
        assert_eq!("until".parse::<Order>(), Err(Garbled));
        assert_eq!("lost 1".parse::<Order>(), Err(Garbled));
        assert_eq!("ended 256".parse::<News>(), Err(Garbled));
    }
}
