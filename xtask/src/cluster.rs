//! `cluster`: three nodes by each kind of locks, with faults for longer than in every run of the tests.

use crate::outcome::{Failure, Outcome};
use crate::repo::Repo;
use crate::run;
use crate::services;
use crate::test;

/// For how long there are faults, if nobody says for how long.
const MINUTES: u64 = 10;

/// How many faults there are at least, if nobody says how many.
const FAULTS: u64 = 300;

/// What the operator wants.
#[derive(Debug, PartialEq, Eq)]
struct Wanted {
    minutes: u64,
    /// Longer than that, until so many faults have happened.
    faults: u64,
    seed: u64,
    /// All kinds of locks, if none is named.
    locks: Option<String>,
}

/// Disturbs a cluster, and compares what it leaves with what one undisturbed node does.
pub(crate) fn cluster(repo: &Repo, args: &[String]) -> Outcome {
    let wanted = read(args, test::a_seed())?;
    services::install(repo, &["postgres", "redis", "azurite"])?;
    let on = wanted.locks.as_deref().unwrap_or_default();
    println!(
        "seed {}, {} min and {} faults at least, each",
        wanted.seed, wanted.minutes, wanted.faults
    );
    run::run(
        test::with_seed(
            repo,
            "cluster",
            &format!("nodes_with_locks_in_{on}"),
            wanted.seed,
        )
        .env("LOCKWORK_SECONDS", (wanted.minutes * 60).to_string())
        .env("LOCKWORK_FAULTS", wanted.faults.to_string()),
    )
}

fn read(args: &[String], seed: u64) -> Outcome<Wanted> {
    let mut wanted = Wanted {
        minutes: MINUTES,
        faults: FAULTS,
        seed,
        locks: None,
    };
    let mut words = args.iter().map(String::as_str);
    while let Some(word) = words.next() {
        let value = words.next().unwrap_or_default();
        match (word, value, value.parse()) {
            ("--minutes", _, Ok(minutes)) => wanted.minutes = minutes,
            ("--faults", _, Ok(faults)) => wanted.faults = faults,
            ("--seed", _, Ok(seed)) => wanted.seed = seed,
            ("--locks", "postgres" | "redis" | "sqlserver" | "azure" | "files", _) => {
                wanted.locks = Some(value.to_owned());
            }
            _ => {
                let message = "Say for how many minutes, with how many faults, with which seed, by which locks: \
                               `cargo xtask cluster --minutes 10 --faults 300 --seed 17 --locks redis`.";
                return Err(Failure::usage(message.to_owned()));
            }
        }
    }
    Ok(wanted)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<String> {
        line.split_whitespace().map(str::to_owned).collect()
    }

    #[test]
    fn nothing_said_is_ten_minutes_by_every_kind_of_locks() {
        let wanted = read(&[], 5).unwrap();
        assert_eq!((wanted.minutes, wanted.seed, wanted.locks), (10, 5, None));
        assert_eq!(wanted.faults, 300);
    }

    #[test]
    fn everything_can_be_said() {
        let wanted = read(&words("--locks redis --minutes 3 --faults 9 --seed 7"), 5).unwrap();
        assert_eq!((wanted.minutes, wanted.faults, wanted.seed), (3, 9, 7));
        assert_eq!(wanted.locks.as_deref(), Some("redis"));
    }

    #[test]
    fn what_makes_no_sense_is_a_usage_failure() {
        for line in ["--minutes", "--minutes many", "--locks etcd", "soon"] {
            let read = read(&words(line), 5);
            assert!(matches!(read, Err(Failure::Usage(_))), "{line}");
        }
    }
}
