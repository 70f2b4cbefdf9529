//! `crash`: nodes that run workflows are killed again and again, with many more kills than in every run of the tests.

use crate::outcome::{Failure, Outcome};
use crate::repo::Repo;
use crate::run;
use crate::services;
use crate::test;

/// How often a node is killed, if nobody says how often.
const KILLS: u64 = 200;

/// What the operator wants.
#[derive(Debug, PartialEq, Eq)]
struct Wanted {
    kills: u64,
    seed: u64,
    /// All stores, if none is named.
    store: Option<String>,
}

/// Kills nodes, and compares what they leave with what an undisturbed one does.
pub(crate) fn crash(repo: &Repo, args: &[String]) -> Outcome {
    let wanted = read(args, test::a_seed())?;
    services::install(repo, &["postgres"])?;
    let on = wanted.store.as_deref().unwrap_or_default();
    println!("seed {}, {} kills", wanted.seed, wanted.kills);
    run::run(
        test::with_seed(
            repo,
            "store_crash",
            &format!("crashing::nodes_killed_on_{on}"),
            wanted.seed,
        )
        .env("LOCKWORK_KILLS", wanted.kills.to_string()),
    )
}

fn read(args: &[String], seed: u64) -> Outcome<Wanted> {
    let mut wanted = Wanted {
        kills: KILLS,
        seed,
        store: None,
    };
    let mut words = args.iter().map(String::as_str);
    while let Some(word) = words.next() {
        let value = words.next().unwrap_or_default();
        match (word, value, value.parse()) {
            ("--kills", _, Ok(kills)) => wanted.kills = kills,
            ("--seed", _, Ok(seed)) => wanted.seed = seed,
            ("--store", "sqlite" | "postgres", _) => wanted.store = Some(value.to_owned()),
            _ => {
                let message = "Say how many kills, with which seed, on which store: \
                               `cargo xtask crash --kills 200 --seed 17 --store sqlite`.";
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
    fn nothing_said_is_two_hundred_kills_on_every_store() {
        let wanted = read(&[], 5).unwrap();
        assert_eq!((wanted.kills, wanted.seed, wanted.store), (200, 5, None));
    }

    #[test]
    fn everything_can_be_said() {
        let wanted = read(&words("--store sqlite --kills 3 --seed 7"), 5).unwrap();
        let store = Some("sqlite".to_owned());
        assert_eq!(
            wanted,
            Wanted {
                kills: 3,
                seed: 7,
                store
            }
        );
    }

    #[test]
    fn what_makes_no_sense_is_a_usage_failure() {
        for line in ["--kills", "--kills many", "--store mysql", "soon"] {
            assert!(
                matches!(read(&words(line), 5), Err(Failure::Usage(_))),
                "{line}"
            );
        }
    }
}
