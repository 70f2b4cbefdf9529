//! Pipes between the processes of one `exec`: across a start by number, never waited on to write.

use nix::{
    fcntl::{FcntlArg, FdFlag, OFlag, fcntl},
    unistd,
};
use std::{
    fmt,
    fs::{File, OpenOptions},
    io::{self, Write},
    marker::PhantomData,
    os::{
        fd::{AsFd, OwnedFd, RawFd},
        unix::fs::OpenOptionsExt,
    },
    str::FromStr,
};
use tokio::{
    io::{AsyncBufReadExt, BufReader, Lines},
    net::unix::pipe::Receiver,
};

/// The writing end.
#[derive(Debug)]
pub(super) struct Teller(File);

impl Teller {
    pub(super) fn new(end: OwnedFd) -> io::Result<Self> {
        fcntl(&end, FcntlArg::F_SETFL(OFlag::O_NONBLOCK))?;
        Ok(Self(end.into()))
    }

    /// The end that this process was started with as descriptor `number`.
    pub(super) fn adopt(number: RawFd) -> io::Result<Self> {
        reopen(number, OpenOptions::new().write(true)).map(Self)
    }

    /// Tells it if the other side has room to hear it. One that has none is frozen, and one that
    /// is gone hears nothing: both are noticed elsewhere.
    pub(super) fn tell(&self, line: impl fmt::Display) {
        // In one piece, as it is short: pipe(7), PIPE_BUF.
        let _ = (&self.0).write_all(format!("{line}\n").as_bytes());
    }
}

/// The reading end, of lines that are each a `T`.
#[derive(Debug)]
pub(super) struct Ear<T> {
    lines: Lines<BufReader<Receiver>>,
    heard: PhantomData<fn() -> T>,
}

impl<T: FromStr> Ear<T> {
    pub(super) fn new(end: OwnedFd) -> io::Result<Self> {
        Receiver::from_owned_fd(end).map(Self::on)
    }

    /// The end that this process was started with as descriptor `number`.
    pub(super) fn adopt(number: RawFd) -> io::Result<Self> {
        let file = reopen(number, OpenOptions::new().read(true))?;
        close(number);
        Receiver::from_file(file).map(Self::on)
    }

    fn on(end: Receiver) -> Self {
        Self {
            lines: BufReader::new(end).lines(),
            heard: PhantomData,
        }
    }

    /// The next line; `None` when the other side is gone, or makes no sense. Dropping this loses
    /// none.
    pub(super) async fn next(&mut self) -> Option<T> {
        self.lines.next_line().await.ok()??.parse().ok()
    }
}

/// Lets the processes started from now on inherit `end`.
pub(super) fn share(end: impl AsFd) -> io::Result<()> {
    fcntl(end, FcntlArg::F_SETFD(FdFlag::empty()))?;
    Ok(())
}

/// Closes what this process was started with as descriptor `number`.
pub(super) fn close(number: RawFd) {
    // An error says that it is closed already.
    let _ = unistd::close(number);
}

/// A number cannot be made a descriptor without `unsafe`, but the system has a path for it.
/// Without waiting: whoever has the other end may be gone (fifo(7)).
fn reopen(number: RawFd, how: &mut OpenOptions) -> io::Result<File> {
    let all = if cfg!(target_os = "linux") {
        "/proc/self/fd"
    } else {
        "/dev/fd"
    };
    how.custom_flags(OFlag::O_NONBLOCK.bits())
        .open(format!("{all}/{number}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exec::wire::Order;
    use std::{os::fd::AsRawFd, time::Duration};
    use tokio::time::timeout;

    #[tokio::test]
    async fn an_adopted_end_hears_what_is_told_and_then_the_end() {
        let (reader, writer) = io::pipe().unwrap();
        let mut ear = Ear::adopt(dup(&reader)).unwrap();
        let teller = Teller::new(writer.into()).unwrap();
        teller.tell(Order::Lost);
        drop(teller);
        for told in [Some(Order::Lost), None] {
            let heard = timeout(Duration::from_secs(5), ear.next()).await;
            assert_eq!(heard.expect("it is heard: not within 5 s"), told);
        }
    }

    #[test]
    fn telling_somebody_who_does_not_listen_does_not_wait() {
        let (_reader, writer) = io::pipe().unwrap();
        let teller = Teller::new(writer.into()).unwrap();
        for _ in 0..100_000 {
            teller.tell(Order::Lost);
        }
    }

    /// A descriptor that only its number stands for.
    fn dup(end: &impl AsFd) -> RawFd {
        use std::os::fd::IntoRawFd;
        let copy = end.as_fd().try_clone_to_owned().unwrap();
        assert!(copy.as_raw_fd() > 2);
        copy.into_raw_fd()
    }
}
