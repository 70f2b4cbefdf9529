//! The runner: ties itself to the guardian, tells its group, and becomes the command.

use super::{
    parent,
    pipe::{self, Teller},
    stage::Runner,
    terminal::Terminal,
    wire::News,
};
use crate::show;
use nix::{
    sys::signal::Signal,
    unistd::{getpgrp, getpid},
};
use std::{io::ErrorKind, os::unix::process::CommandExt, process::Command};

/// As shells say it.
const NOT_EXECUTABLE: u8 = 126;
const NOT_FOUND: u8 = 127;

/// Returns only if there is no command to become.
pub(super) fn main(told: &Runner) -> u8 {
    let Some((program, args)) = told.command.split_first() else {
        return NOT_FOUND;
    };
    // Also kept by the command: it dies with the guardian, whatever becomes of `exec`.
    if !parent::tie(told.guardian, Signal::SIGKILL) {
        return NOT_EXECUTABLE;
    }
    // Before there is a command: whoever outlives the guardian knows whom to end.
    match Teller::adopt(told.news) {
        Ok(news) => news.tell(News::Group(getpid())),
        Err(_) => return NOT_EXECUTABLE, // exec is gone
    }
    pipe::close(told.news);
    told.close.iter().copied().for_each(pipe::close);
    if told.terminal {
        Terminal::open().give(getpgrp());
    }
    let error = Command::new(program).args(args).exec();
    let program = program.display();
    match error.kind() {
        ErrorKind::NotFound => {
            show::say(format_args!("{program} was not found: is it in the PATH?"));
            NOT_FOUND
        }
        _ => {
            show::say(format_args!("{program} cannot be run: {error}"));
            NOT_EXECUTABLE
        }
    }
}
