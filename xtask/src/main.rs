//! The chores of this workspace, one command each: `cargo xtask help` lists them.
//!
//! This file serves the operator who types a command: it finds the command in
//! the table, runs it, and turns its outcome into an exit code. 0 means done,
//! 1 means the chore failed, 2 means the command line made no sense.

mod api;
mod bench;
mod ci;
mod cluster;
mod crash;
mod files;
mod metadata;
mod mutants;
mod outcome;
mod paint;
mod repo;
mod run;
mod services;
mod test;
mod tree;

use std::process::ExitCode;

use outcome::{Failure, Outcome};
use repo::Repo;

/// One row of the help table, and what it runs.
struct Chore {
    usage: &'static str,
    line: &'static str,
    run: fn(&Repo, &[String]) -> Outcome,
}

impl Chore {
    /// The first word of the usage is what the operator types.
    fn name(&self) -> &str {
        self.usage.split(' ').next().unwrap_or(self.usage)
    }
}

const CHORES: &[Chore] = &[
    Chore {
        usage: "ci [STAGE…]",
        line: "every check a change must pass, or only the stages named",
        run: ci::ci,
    },
    Chore {
        usage: "test [ARGS…]",
        line: "all tests; ARGS are handed to `cargo test`",
        run: test::test,
    },
    Chore {
        usage: "up [SERVICE…]",
        line: "the servers for tests of backends; prints the variables that tests look for",
        run: services::up,
    },
    Chore {
        usage: "down",
        line: "stops these servers and removes their data",
        run: services::down,
    },
    Chore {
        usage: "status [--json]",
        line: "each of these servers: its health, process and address; --json has the password",
        run: services::status,
    },
    Chore {
        usage: "mutants [NAME…] [--json]",
        line: "the deliberate breakages of tests/mutants, each of which must turn a test red",
        run: mutants::mutants,
    },
    Chore {
        usage: "api [--examples N]",
        line: "a node is asked all that the description of its API allows, and much that it does not",
        run: api::api,
    },
    Chore {
        usage: "crash [--kills N] […]",
        line: "workflow nodes, servers and stores go away; also --only kills|rounds|cycles|away, --seed S, --store sqlite|postgres",
        run: crash::crash,
    },
    Chore {
        usage: "cluster [--minutes N] […]",
        line: "three workflow nodes by each kind of locks, with faults; also --seed S, --locks redis|postgres|…",
        run: cluster::cluster,
    },
    Chore {
        usage: "names [COUNT]",
        line: "so many names of file locks, used once each: none may leave a file (a million)",
        run: test::names,
    },
    Chore {
        usage: "bench [ARGS…]",
        line: "the benchmarks; ARGS are handed to them",
        run: bench::bench,
    },
    Chore {
        usage: "tree",
        line: "which crate may depend on which, and whether every module says what it is for",
        run: tree::tree,
    },
    Chore {
        usage: "help",
        line: "this table",
        run: help,
    },
];

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    match dispatch(&words) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            if !matches!(failure, Failure::AlreadySaid) {
                eprintln!("{} {failure}", paint::stderr().red("xtask:"));
            }
            failure.exit_code()
        }
    }
}

fn dispatch(words: &[String]) -> Outcome {
    let name = match words.first().map(String::as_str) {
        None | Some("-h" | "--help") => "help",
        Some(name) => name,
    };
    let chore = CHORES
        .iter()
        .find(|chore| chore.name() == name)
        .ok_or_else(|| {
            Failure::usage(format!(
                "There is no command `{name}`; `cargo xtask help` lists those there are."
            ))
        })?;
    (chore.run)(&Repo::find()?, words.get(1..).unwrap_or_default())
}

fn help(_: &Repo, _: &[String]) -> Outcome {
    println!("cargo xtask <command>\n");
    for chore in CHORES {
        println!("  {:<26}{}", chore.usage, chore.line);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_command_is_a_usage_failure() {
        let failure = dispatch(&["frobnicate".to_owned()]).unwrap_err();
        assert!(matches!(failure, Failure::Usage(_)));
        assert!(failure.to_string().contains("frobnicate"));
    }

    #[test]
    fn a_chore_is_named_by_the_first_word_of_its_usage() {
        let names: Vec<&str> = CHORES.iter().map(Chore::name).collect();
        let order = [
            "ci", "test", "up", "down", "status", "mutants", "api", "crash", "cluster", "names",
            "bench", "tree", "help",
        ];
        assert_eq!(names, order);
    }
}
