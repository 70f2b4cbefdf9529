//! What telling another process something costs at least: a pipe.

use super::{
    directory,
    handoff::{NAP, nap, now, p50_and_p99},
};
use crate::{
    cell::{Outcome, Turns},
    cells::{Role, everything_on_one_thread},
    process::{Line, Other},
};
use std::{
    os::fd::OwnedFd,
    path::Path,
    time::{Duration, Instant},
};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::unix::pipe::{Receiver, Sender},
};

pub(super) const ROLE: Role = Role {
    name: "pong",
    play: pong,
};

/// A line as tokio has it.
struct Pipes {
    from: Receiver,
    to: Sender,
}

impl Pipes {
    /// Within a runtime.
    fn of(line: Line) -> Outcome<Self> {
        Ok(Self {
            from: Receiver::from_owned_fd(OwnedFd::from(line.from))?,
            to: Sender::from_owned_fd(OwnedFd::from(line.to))?,
        })
    }
}

/// Answers everything with the time at which it came.
fn pong(_: &Path, line: Line) -> Outcome<()> {
    everything_on_one_thread()?.block_on(async {
        let mut pipes = Pipes::of(line)?;
        // Until nobody is there any more.
        while pipes.from.read_u64_le().await.is_ok() {
            pipes.to.write_u64_le(now()).await?;
        }
        Ok(())
    })
}

/// Half of each round trip.
pub(super) fn to_and_fro() -> Outcome<Turns> {
    // As many as take about a tenth of a second, for one operation of the cell takes milliseconds.
    playing(50, Duration::ZERO, |begun, _, ended| (ended - begun) / 2.0)
}

/// The way there.
pub(super) fn after_a_pause() -> Outcome<Turns> {
    playing(1, NAP, |begun, there, _| there - begun)
}

/// Sends so many for each operation, each after a pause; `delay` says what counts, of when it was
/// sent, when it arrived there and when the answer arrived here.
fn playing(each: u64, pause: Duration, delay: fn(f64, f64, f64) -> f64) -> Outcome<Turns> {
    let (runtime, directory) = (everything_on_one_thread()?, directory()?);
    let (other, line) = Other::start(ROLE.name, directory.path())?;
    let mut pipes = {
        let _within = runtime.enter();
        Pipes::of(line)?
    };
    Ok(Box::new(move |operations| {
        let _until_now = &other;
        let mut delays = Vec::new();
        for _ in 0..operations * each {
            nap(pause);
            let round_trip = async {
                let (begun, since) = (now(), Instant::now());
                pipes.to.write_u64_le(begun).await?;
                let there = pipes.from.read_u64_le().await?;
                let ended = begun as f64 + since.elapsed().as_nanos() as f64;
                Ok::<_, std::io::Error>(delay(begun as f64, there as f64, ended))
            };
            delays.push(runtime.block_on(round_trip)?);
        }
        Ok(p50_and_p99(&delays))
    }))
}
