//! What can be said about locks.

use crate::time;
use clap::{Args, Subcommand};
use lockwork::Wait;
use std::{ffi::OsString, time::Duration};

#[derive(Debug, Subcommand)]
pub(crate) enum LocksVerb {
    /// List the locks that are held, by whom and since when
    Ls(Ls),
    /// Show who holds a lock and who waits for it
    Holders(Holders),
    /// Take a lock away from whoever holds it: they are told, and may be in the middle of something
    Break(Break),
    /// Remove what names left behind that nobody has used for a while
    Gc(Gc),
}

#[derive(Debug, Args)]
pub(crate) struct Place {
    /// Where the locks are: file:./locks, say. Without, LOCKWORK_URL
    #[arg(long = "locks", value_name = "URL")]
    pub(crate) url: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct Exec {
    #[command(flatten)]
    pub(crate) place: Place,
    /// How long to wait for the lock: 30s, no or forever
    #[arg(long, value_name = "TIME", default_value = "forever", value_parser = time::wait)]
    pub(crate) wait: Wait,
    /// Be a reader of the read/write lock NAME: beside other readers
    #[arg(long, visible_alias = "shared", group = "kind")]
    pub(crate) read: bool,
    /// Be the writer of the read/write lock NAME: beside nobody
    #[arg(long, group = "kind")]
    pub(crate) write: bool,
    /// Take one of N permits of the semaphore NAME
    #[arg(long, value_name = "N", group = "kind")]
    pub(crate) permits: Option<u32>,
    /// How long the command has between SIGTERM and SIGKILL
    #[arg(long, value_name = "TIME", default_value = "5s", value_parser = time::duration)]
    pub(crate) grace: Duration,
    /// Keep the descriptors of a file lock out of the command
    #[arg(long)]
    pub(crate) close: bool,
    /// The lock's name
    pub(crate) name: String,
    /// The command and its arguments
    #[arg(last = true, required = true, value_name = "CMD")]
    pub(crate) command: Vec<OsString>,
}

#[derive(Debug, Args)]
pub(crate) struct Kind {
    /// The mutex called so; this is the default
    #[arg(long, group = "kind")]
    pub(crate) mutex: bool,
    /// The read/write lock called so
    #[arg(long, group = "kind")]
    pub(crate) rw: bool,
    /// The semaphore called so
    #[arg(long, group = "kind")]
    pub(crate) semaphore: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Ls {
    #[command(flatten)]
    pub(crate) place: Place,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// Only locks whose names begin so
    #[arg(
        value_name = "BEGINNING",
        default_value = "",
        hide_default_value = true
    )]
    pub(crate) beginning: String,
}

#[derive(Debug, Args)]
pub(crate) struct Holders {
    #[command(flatten)]
    pub(crate) place: Place,
    #[command(flatten)]
    pub(crate) kind: Kind,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// The lock's name
    pub(crate) name: String,
}

#[derive(Debug, Args)]
pub(crate) struct Break {
    #[command(flatten)]
    pub(crate) place: Place,
    #[command(flatten)]
    pub(crate) kind: Kind,
    /// Why, for the log
    #[arg(long, value_name = "TEXT", value_parser = reason)]
    pub(crate) why: String,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// The lock's name
    pub(crate) name: String,
}

/// Whoever reads the log wants more than nothing.
fn reason(text: &str) -> Result<String, String> {
    match text.trim() {
        "" => Err("say why, for whoever reads the log".to_owned()),
        text => Ok(text.to_owned()),
    }
}

#[derive(Debug, Args)]
pub(crate) struct Gc {
    #[command(flatten)]
    pub(crate) place: Place,
    /// Leave alone what somebody used within this time
    #[arg(long, value_name = "TIME", default_value = "1d", value_parser = time::duration)]
    pub(crate) idle: Duration,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Doctor {
    #[command(flatten)]
    pub(crate) place: Place,
    /// Where workflows are kept: postgres://USER@HOST/DATABASE or sqlite:./lockwork.db
    #[arg(long, value_name = "URL")]
    pub(crate) store: Option<String>,
    /// All nodes on this store run on this machine: locks that reach no further will do
    #[arg(long)]
    pub(crate) allow_local_locks: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}
