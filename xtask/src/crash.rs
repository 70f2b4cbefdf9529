//! `crash`: the tests in which nodes, servers and stores go away, for longer than in every run of the tests.

use crate::outcome::{Failure, Outcome};
use crate::repo::Repo;
use crate::run;
use crate::services;
use crate::test;

/// How often a node is killed, if nobody says how often.
const KILLS: u64 = 200;

/// How often a process of PostgreSQL is killed between a claim and its commit.
const ROUNDS: u64 = 100;

/// How many bookmarks come and go before they are looked for.
const CYCLES: u64 = 1_000_000;

/// For how many seconds a store is away.
const AWAY: u64 = 60;

/// What can happen, by the word for it.
const ALL: [&str; 4] = ["kills", "rounds", "cycles", "away"];

/// What the operator wants.
#[derive(Debug, PartialEq, Eq)]
struct Wanted {
    kills: u64,
    seed: u64,
    /// All stores, if none is named.
    store: Option<String>,
    /// All that can happen, if nothing is named.
    only: Vec<String>,
}

/// Tests of one target, and a variable that says how long they take.
#[derive(Debug, PartialEq, Eq)]
struct Long {
    target: &'static str,
    /// How their names begin.
    beginning: String,
    variable: &'static str,
    value: u64,
}

/// Runs what is wanted, one after the other, and stops at the first that fails.
pub(crate) fn crash(repo: &Repo, args: &[String]) -> Outcome {
    let wanted = read(args, test::a_seed())?;
    services::install(repo, &["postgres", "redis"])?;
    println!("seed {}", wanted.seed);
    for long in wanted.all() {
        println!("{} {}", long.variable, long.value);
        run::run(
            test::with_seed(repo, long.target, &long.beginning, wanted.seed)
                .env(long.variable, long.value.to_string()),
        )?;
    }
    Ok(())
}

impl Wanted {
    fn all(&self) -> Vec<Long> {
        let wants =
            |what: &&&str| self.only.is_empty() || self.only.iter().any(|one| one == **what);
        let what = ALL.iter().filter(wants);
        what.flat_map(|what| self.named(what)).collect()
    }

    /// What goes by this word. With SQLite alone there is no server that could be killed or stopped.
    fn named(&self, what: &str) -> Vec<Long> {
        let on = self.store.as_deref().unwrap_or_default();
        match what {
            "kills" => {
                let killed = format!("crashing::nodes_killed_on_{on}");
                vec![long("store_crash", killed, "LOCKWORK_KILLS", self.kills)]
            }
            "cycles" => {
                let found = format!("growing::bookmarks_on_{on}");
                vec![long("store_crash", found, "LOCKWORK_CYCLES", CYCLES)]
            }
            _ if on == "sqlite" => Vec::new(),
            "rounds" => [
                ("store_postgres", "killing::"),
                ("store_crash", "forgetting::"),
            ]
            .map(|(target, all)| long(target, all.to_owned(), "LOCKWORK_ROUNDS", ROUNDS))
            .into(),
            _ => ["store_crash", "cluster"]
                .map(|target| long(target, "away::".to_owned(), "LOCKWORK_AWAY", AWAY))
                .into(),
        }
    }
}

const fn long(target: &'static str, beginning: String, variable: &'static str, value: u64) -> Long {
    Long {
        target,
        beginning,
        variable,
        value,
    }
}

fn read(args: &[String], seed: u64) -> Outcome<Wanted> {
    let mut wanted = Wanted {
        kills: KILLS,
        seed,
        store: None,
        only: Vec::new(),
    };
    let mut words = args.iter().map(String::as_str);
    while let Some(word) = words.next() {
        let value = words.next().unwrap_or_default();
        match (word, value, value.parse()) {
            ("--kills", _, Ok(kills)) => wanted.kills = kills,
            ("--seed", _, Ok(seed)) => wanted.seed = seed,
            ("--store", "sqlite" | "postgres", _) => wanted.store = Some(value.to_owned()),
            ("--only", what, _) if ALL.contains(&what) => wanted.only.push(what.to_owned()),
            _ => {
                let message = "Say how many kills, with which seed, on which store, and whether only kills, rounds, cycles \
                               or away: `cargo xtask crash --only kills --kills 200 --seed 17 --store sqlite`.";
                return Err(Failure::usage(message.to_owned()));
            }
        }
    }
    Ok(wanted)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wanted(line: &str) -> Outcome<Wanted> {
        let words: Vec<_> = line.split_whitespace().map(str::to_owned).collect();
        read(&words, 5)
    }

    fn beginnings(line: &str) -> Vec<String> {
        let all = wanted(line).unwrap().all().into_iter();
        all.map(|long| format!("{} {}", long.target, long.beginning))
            .collect()
    }

    #[test]
    fn nothing_said_is_everything_on_every_store() {
        let nothing = wanted("").unwrap();
        assert_eq!(
            (nothing.kills, nothing.seed, &nothing.store),
            (200, 5, &None)
        );
        let all = [
            "store_crash crashing::nodes_killed_on_",
            "store_postgres killing::",
            "store_crash forgetting::",
            "store_crash growing::bookmarks_on_",
            "store_crash away::",
            "cluster away::",
        ];
        assert_eq!(beginnings(""), all);
    }

    #[test]
    fn everything_can_be_said() {
        let said = wanted("--store sqlite --kills 3 --seed 7 --only kills").unwrap();
        let expected = Wanted {
            kills: 3,
            seed: 7,
            store: Some("sqlite".to_owned()),
            only: vec!["kills".to_owned()],
        };
        assert_eq!(said, expected);
    }

    #[test]
    fn what_is_named_alone_is_done_alone() {
        let both = ["store_crash away::", "cluster away::"];
        assert_eq!(beginnings("--only away"), both);
        let two = beginnings("--only cycles --only kills --store postgres");
        let expected = [
            "store_crash crashing::nodes_killed_on_postgres",
            "store_crash growing::bookmarks_on_postgres",
        ];
        assert_eq!(two, expected);
    }

    #[test]
    fn a_file_has_no_server_that_goes_away() {
        assert_eq!(beginnings("--store sqlite").len(), 2);
    }

    #[test]
    fn what_makes_no_sense_is_a_usage_failure() {
        for line in ["--kills", "--kills many", "--store mysql", "soon", "--only"] {
            assert!(matches!(wanted(line), Err(Failure::Usage(_))), "{line}");
        }
    }
}
