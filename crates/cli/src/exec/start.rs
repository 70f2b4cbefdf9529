//! Starting the guardian, from the thread that stays: see `parent.rs`.

use super::{
    descriptors::Inherited,
    parent,
    pipe::{Ear, Teller, share},
    stage::{self, this_program},
    wire::News,
};
use crate::args::Exec;
use lockwork::Guard;
use nix::unistd::Pid;
use std::{io, os::fd::AsRawFd, process::Child};

/// The hidden first argument of the guardian.
pub(super) const GUARDIAN: &str = "__guardian";

/// A guardian at work. Its pipe ends when this is dropped, and the command with it.
#[derive(Debug)]
pub(super) struct Guardian {
    pub(super) process: Child,
    pub(super) orders: Teller,
    pub(super) news: Ear<News>,
}

/// Starts one that runs the command of `args` for as long as `guard` is good.
pub(super) fn guardian(args: &Exec, guard: &Guard) -> io::Result<Guardian> {
    parent::adopt_orphans();
    let (orders_end, orders) = io::pipe()?;
    let (news, news_end) = io::pipe()?;
    share(&orders_end)?;
    share(&news_end)?;
    let inherited = Inherited::of(guard)?;
    let told = stage::Guardian {
        exec: Pid::this(),
        orders: orders_end.as_raw_fd(),
        news: news_end.as_raw_fd(),
        until: guard.valid_until(),
        grace: args.grace,
        close: if args.close {
            inherited.numbers()
        } else {
            Vec::new()
        },
        command: args.command.clone(),
    };
    let mut command = this_program(GUARDIAN)?;
    command.args(told.args()).env("LOCKWORK_NAME", &args.name);
    match guard.token() {
        Some(token) => command.env("LOCKWORK_TOKEN", token.to_string()),
        // That of a lock around this one is not for what this one protects.
        None => command.env_remove("LOCKWORK_TOKEN"),
    };
    Ok(Guardian {
        process: command.spawn()?,
        orders: Teller::new(orders.into())?,
        news: Ear::new(news.into())?,
    })
}
