//! What telling another process something costs at least: a pipe.

use crate::{
    cell::{Outcome, Turns},
    cells::{
        Role, directory, everything_on_one_thread,
        pair::{self, Setting, nap, now},
    },
    process::Line,
};
use std::{os::fd::OwnedFd, path::Path};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::unix::pipe::{Receiver, Sender},
};

pub(super) const ROLES: [Role; 3] = [
    TO_AND_FRO,
    ONE_WAY,
    Role {
        name: PONG,
        play: pong,
    },
];

const PONG: &str = "pong";

const TO_AND_FRO: Role = Role {
    name: "ping-to-and-fro",
    play: |directory, line| ping(directory, line, |sent, _, back| (back - sent) / 2.0),
};

const ONE_WAY: Role = Role {
    name: "ping-one-way",
    play: |directory, line| ping(directory, line, |sent, there, _| there - sent),
};

/// Half of each round trip.
pub(super) fn to_and_fro(setting: Setting) -> Outcome<Turns> {
    pair::start(TO_AND_FRO.name, setting, directory()?, super::HANDED)
}

/// The way there.
pub(super) fn one_way(setting: Setting) -> Outcome<Turns> {
    pair::start(ONE_WAY.name, setting, directory()?, super::HANDED)
}

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

/// Sends something, each time after the pause; `delay` says what counts, of when it was sent, when
/// it arrived there and when the answer was back.
fn ping(directory: &Path, line: Line, delay: fn(f64, f64, f64) -> f64) -> Outcome<()> {
    pair::first(PONG, directory, line, |across, pause| {
        let runtime = everything_on_one_thread()?;
        let mut pipes = {
            let _within = runtime.enter();
            Pipes::of(across)?
        };
        Ok(move |operations| {
            let mut delays = Vec::new();
            for _ in 0..operations {
                nap(pause);
                let round_trip = async {
                    let sent = now();
                    pipes.to.write_u64_le(sent).await?;
                    let there = pipes.from.read_u64_le().await?;
                    let [sent, there, back] = [sent, there, now()].map(|time| time as f64);
                    Outcome::Ok(delay(sent, there, back))
                };
                delays.push(runtime.block_on(round_trip)?);
            }
            Ok(delays)
        })
    })
}

/// Answers everything with the time at which it came.
fn pong(_: &Path, mut line: Line) -> Outcome<()> {
    // Only the other waits before it does something.
    pair::second(&mut line)?;
    everything_on_one_thread()?.block_on(async {
        let mut pipes = Pipes::of(line)?;
        // Until nobody is there any more.
        while pipes.from.read_u64_le().await.is_ok() {
            pipes.to.write_u64_le(now()).await?;
        }
        Ok(())
    })
}
