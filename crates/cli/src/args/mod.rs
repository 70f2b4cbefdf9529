//! The command line: what there is to say, and what to answer when it is said wrong.

pub(crate) mod after;
mod bench;
mod client;
mod demo;
mod locks;
mod manual;
mod node;

pub(crate) use after::After;
pub(crate) use bench::Bench;
pub(crate) use client::{
    At, Definitions, Ids, Instances, InstancesList, Queue, QueueVerb, Run, Show, Signal, Start,
};
pub(crate) use demo::{Demo, DemoCluster};
pub(crate) use locks::{Break, Doctor, Exec, Gc, Holders, LocksVerb, Ls, Place};
pub(crate) use manual::Man;
pub(crate) use node::{ADDRESS, Dev, Keys, Serve};

use crate::exit;
use clap::{Parser, Subcommand, error::ErrorKind};
use std::ffi::OsString;

/// Run programs under locks that other processes, or other machines, respect; and workflows that outlive them.
#[derive(Debug, Parser)]
#[command(name = "lockwork", bin_name = "lockwork", version, after_help = after::LOCKWORK.help())]
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
    #[command(after_help = after::EXEC.help())]
    Exec(Exec),
    /// Show who holds a lock and who waits for it
    Holders(Holders),
    /// Look after locks: which are held, who holds one, breaking one, what they leave behind
    #[command(subcommand)]
    Locks(LocksVerb),
    /// Check a deployment: says what would break a promise and what to do
    ///
    /// Looks at the store and the locks that are named, or else at those that the environment names, or else at ./.lockwork.
    Doctor(Doctor),
    /// Measure the locks: what one costs, how many a second, how soon the next one has it
    Bench(Bench),
    /// Run a node for this machine alone: nothing to install, and what it does is kept
    Dev(Dev),
    /// Run a node among others that share a store
    #[command(after_help = after::SERVE.help())]
    Serve(Serve),
    /// See what this is for, with nothing installed
    #[command(subcommand)]
    Demo(Demo),
    /// Draw keys by which programs may ask a node
    #[command(subcommand)]
    Keys(Keys),
    /// Look after the workflows of a node
    #[command(subcommand)]
    Definitions(Definitions),
    /// Begin an instance of a workflow, and print its id without waiting
    Start(Start),
    /// Run a workflow, of a file or by its id, and show what happens until it is over or waits
    Run(Run),
    /// Tell whoever waits for an event that it happened
    Signal(Signal),
    /// Look at instances, end them, try them again, remove them
    #[command(subcommand)]
    Instances(Instances),
    /// Show the nodes that share the store
    Nodes(Show),
    /// Show the stimuli for which nobody waits yet
    Queue(Queue),
    /// Show what happens by itself, the soonest first
    Timers(Show),
    /// Print what makes a shell complete the words of this command
    #[command(hide = true)]
    Completions {
        /// Which shell
        shell: clap_complete::Shell,
    },
    /// Print the page of the manual, or write that of each verb
    #[command(hide = true)]
    Man(Man),
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

/// What a first-time user may have meant.
fn hint(args: &[OsString], kind: ErrorKind) -> Option<&'static str> {
    let is = |verb: &str| args.get(1).is_some_and(|said| said == verb);
    let is_plain = |arg: &OsString| !arg.as_encoded_bytes().starts_with(b"-");
    if is("bench") && args.get(2).is_some_and(is_plain) {
        return Some("Say where the locks are with --locks: lockwork bench --locks URL");
    }
    let is_exec = is("exec");
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
