//! The command line: what there is to say, and what to answer when it is said wrong.

use crate::{exit, time};
use clap::{Args, Parser, Subcommand, error::ErrorKind};
use lockwork::Wait;
use std::{ffi::OsString, time::Duration};

const EXAMPLES: &str = "\
Examples:
  lockwork exec --locks file:./locks nightly -- ./report.sh
  lockwork exec --locks file:./locks --wait no nightly -- ./report.sh || echo \"not now: $?\"
  lockwork exec --locks file:./locks --permits 3 builds -- make -j4
  lockwork holders --locks file:./locks nightly
";

const EXEC_EXAMPLES: &str = "\
Examples:
  lockwork exec --locks file:./locks nightly -- ./report.sh
  lockwork exec --locks file:./locks --read  prices -- ./show.sh     # beside other readers
  lockwork exec --locks file:./locks --write prices -- ./update.sh   # beside nobody
  lockwork exec --locks file:./locks --permits 3 builds -- make -j4  # three at a time
  LOCKWORK_URL=file:./locks lockwork exec --wait 30s nightly -- sh -c 'a | b'

Exit codes: the command's own, 128+n if signal n ended it; 126 not executable, 127 not found;
75 the lock was not free in time, 76 it was lost while the command ran, 69 the backend cannot be
reached or refuses, 71 the guardian was killed or could not be started, 2 wrong usage.

The command finds the lock's name in LOCKWORK_NAME and its fencing token in LOCKWORK_TOKEN.
";

/// Run programs under locks that other processes, or other machines, respect.
#[derive(Debug, Parser)]
#[command(name = "lockwork", bin_name = "lockwork", version, after_help = EXAMPLES)]
pub(crate) struct Cli {
    /// Say more on standard error; twice for more still
    #[arg(short, long, global = true, action = clap::ArgAction::Count)]
    pub(crate) verbose: u8,
    #[command(subcommand)]
    pub(crate) verb: Verb,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    /// Run a command while holding a lock, and never without it
    #[command(after_help = EXEC_EXAMPLES)]
    Exec(Exec),
    /// Show who holds a lock and who waits for it
    Holders(Holders),
    /// Look after what locks leave behind
    #[command(subcommand)]
    Locks(LocksVerb),
    /// Check a deployment: says what would break a promise and what to do
    Doctor(Doctor),
}

#[derive(Debug, Subcommand)]
pub(crate) enum LocksVerb {
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
pub(crate) struct Holders {
    #[command(flatten)]
    pub(crate) place: Place,
    /// The mutex called so; this is the default
    #[arg(long, group = "kind")]
    pub(crate) mutex: bool,
    /// The read/write lock called so
    #[arg(long, group = "kind")]
    pub(crate) rw: bool,
    /// The semaphore called so
    #[arg(long, group = "kind")]
    pub(crate) semaphore: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// The lock's name
    pub(crate) name: String,
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
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Reads the arguments; says what is wrong with them, or what was asked for, and how to end then.
pub(crate) fn parse(args: Vec<OsString>) -> Result<Cli, u8> {
    Cli::try_parse_from(&args).map_err(|error| {
        if !error.use_stderr() {
            // Nobody may be there to read the help.
            let _ = error.print();
            return 0;
        }
        // Help that was not asked for begins like help that was.
        match error.to_string().strip_prefix("error: ") {
            Some(sentence) => eprint!("lockwork: {sentence}"),
            None => eprint!("{error}"),
        }
        if let Some(hint) = hint(&args, error.kind()) {
            eprintln!("\n{hint}");
        }
        exit::USAGE
    })
}

/// What a first-time user of `exec` may have meant.
fn hint(args: &[OsString], kind: ErrorKind) -> Option<&'static str> {
    let is_exec = args.get(1).is_some_and(|verb| verb == "exec");
    let has_dashes = args.iter().any(|arg| arg == "--");
    match kind {
        _ if !is_exec => None,
        ErrorKind::UnknownArgument | ErrorKind::MissingRequiredArgument if !has_dashes => {
            Some("Put -- before the command: lockwork exec --locks URL NAME -- CMD ...")
        }
        ErrorKind::MissingRequiredArgument => {
            Some("The lock's name goes before --: lockwork exec --locks URL NAME -- CMD ...")
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    fn words(line: &str) -> Vec<OsString> {
        line.split(' ').map(OsString::from).collect()
    }

    #[test]
    fn the_description_of_the_arguments_is_sound() {
        Cli::command().debug_assert();
    }

    #[test]
    fn what_follows_the_dashes_is_the_commands() {
        let cli = parse(words("lockwork exec --locks x n -- ls --wait -v")).unwrap();
        let Verb::Exec(exec) = cli.verb else {
            panic!("not exec")
        };
        assert_eq!(exec.command, words("ls --wait -v"));
        assert_eq!(cli.verbose, 0);
    }

    #[test]
    fn a_lock_is_of_one_kind() {
        assert_eq!(
            parse(words("l exec --read --write n -- ls")).unwrap_err(),
            2
        );
        assert!(parse(words("l exec --shared n -- ls")).is_ok());
    }

    #[test]
    fn a_command_without_dashes_is_told_of_them() {
        let kind = ErrorKind::UnknownArgument;
        assert!(
            hint(&words("l exec n ls"), kind)
                .unwrap()
                .contains("Put --")
        );
        let kind = ErrorKind::MissingRequiredArgument;
        assert!(hint(&words("l exec -- ls"), kind).unwrap().contains("name"));
        assert!(hint(&words("l holders"), kind).is_none());
    }
}
