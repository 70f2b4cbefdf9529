//! A server in a process of its own, ended with the run.
//!
//! Its data is beside this program, and not where tests have theirs. Where that is, a process is
//! told by its environment; so a process of its own starts it.

use crate::{
    cell::Outcome,
    cells::beside,
    process::{Line, Other},
};
use std::net::SocketAddr;

#[derive(Debug)]
pub(in crate::cells) struct Process {
    pub(in crate::cells) address: SocketAddr,
    /// It ends when nobody can hear it any more.
    _line: Line,
    _process: Other,
}

impl Process {
    /// Starts a process whose `role` ends with [`keep_until_alone`].
    pub(in crate::cells) fn start(role: &str) -> Outcome<Self> {
        let (process, mut line) = Other::start(role, &beside()?)?;
        let ended = |_| "the server did not start, and said why above";
        let port = line.hear().map_err(ended)?;
        Ok(Self {
            address: SocketAddr::from(([127, 0, 0, 1], port.try_into()?)),
            _line: line,
            _process: process,
        })
    }
}

/// Says the port of a server, and ends the server when whoever started this is gone.
pub(in crate::cells) fn keep_until_alone<S>(server: S, port: u16, mut line: Line) -> Outcome<()> {
    line.say(u64::from(port))?;
    // An error says that nobody is there.
    let _ = line.hear();
    drop(server);
    Ok(())
}
