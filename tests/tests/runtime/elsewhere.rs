//! The same facts on the other stores, and on nodes with locks between them: this program is run again for each.

use crate::support::{MANY, soon};
use lockwork_conformance::{StoreKind, StorePlace};
use std::{
    io::Write,
    process::{Child, Command, ExitStatus},
    time::{Duration, Instant},
};

/// What the facts of this module have in common: whoever is run again leaves them out.
const THESE: &str = "these_facts_hold_on";

/// These are about nodes that stand still and are taken for dead, which in one process keep their locks, so that whoever
/// runs or deletes what they were at waits; about how long one waits for a turn, which locks say themselves; and about
/// nodes that are not started and so do not look for what others want ended. `tests/distributed` has what holds instead.
const ALONE: [&str; 8] = [
    "a_node_that_dies_between_two_steps_is_followed_by_another_that_repeats_none",
    "an_instance_that_was_created_and_whose_node_died_is_run_by_another",
    "that_somebody_else_is_at_it_is_no_attempt",
    "the_hold_of_a_node_that_gave_up_its_bursts_ends",
    "what_a_node_keeps_too_long_is_done_by_another_and_the_first_is_refused",
    "what_is_deleted_while_it_runs_elsewhere_stays_gone",
    "what_runs_elsewhere_is_cancelled_too",
    "whoever_does_not_get_a_turn_in_time_is_told_so",
];

/// For all of them, on a busy machine.
const LIMIT: Duration = Duration::from_secs(600);

#[tokio::test]
async fn these_facts_hold_on_sqlite() {
    hold_on(StoreKind::Sqlite).await;
}

#[tokio::test]
async fn these_facts_hold_on_postgres() {
    hold_on(StoreKind::Postgres).await;
}

#[tokio::test]
async fn these_facts_hold_on_nodes_that_are_one_of_many() {
    if StoreKind::chosen().is_none() && std::env::var(MANY.0).is_err() {
        again("nodes with locks", MANY, &ALONE).await;
    }
}

async fn hold_on(kind: StoreKind) {
    if StoreKind::chosen().is_some() || std::env::var(MANY.0).is_ok() {
        return say(&format!("not asked about {}", kind.name()));
    }
    if let Err(why) = reached(kind).await {
        assert!(
            !kind.is_required(),
            "store-{} is required and cannot be reached: {why}",
            kind.name()
        );
        return say(&format!("{} is skipped: {why}", kind.name()));
    }
    again(kind.name(), kind.choice(), &[]).await;
}

/// Runs this program again, with a variable that says where, and without some facts.
async fn again(place: &str, (variable, value): (&str, &str), without: &[&str]) {
    let mut told = tempfile::tempfile().unwrap();
    let mut again = Command::new(std::env::current_exe().unwrap())
        .args(["--skip", THESE])
        .args(without.iter().flat_map(|fact| ["--skip", fact]))
        // Most of what they do is wait for the store.
        .args(["--test-threads", "4"])
        .env(variable, value)
        .stdout(told.try_clone().unwrap())
        .stderr(told.try_clone().unwrap())
        .spawn()
        .unwrap();
    let ended = end_of(&mut again).await;
    let text = everything_in(&mut told);
    let passed = ended.is_some_and(|status| status.success());
    // One that had to be ended was late, unless something was wrong before that.
    let late = ended.is_none() && !text.contains("... FAILED");
    let how = match late {
        true => format!("not over after {LIMIT:?}"),
        false => format!("{ended:?}"),
    };
    assert!(passed, "on {place}: {how}:\n{text}");
    let result = text.lines().rfind(|line| line.starts_with("test result:"));
    say(&format!(
        "on {place}: {}",
        result.expect("the harness says how many")
    ));
}

async fn reached(kind: StoreKind) -> Result<(), String> {
    let place = StorePlace::new(kind)?;
    let store = soon(place.open()).await;
    store.map(drop).map_err(|error| error.to_string())
}

/// How it ended; nothing, if it had to be ended.
async fn end_of(again: &mut Child) -> Option<ExitStatus> {
    let began = Instant::now();
    while began.elapsed() < LIMIT {
        if let Some(status) = again.try_wait().unwrap() {
            return Some(status);
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    again.kill().unwrap();
    again.wait().unwrap();
    None
}

fn everything_in(file: &mut std::fs::File) -> String {
    use std::io::{Read, Seek};
    let mut text = String::new();
    file.rewind().unwrap();
    file.read_to_string(&mut text).unwrap();
    text
}

/// Past the harness, which keeps what tests that pass have to say.
fn say(sentence: &str) {
    let _ = writeln!(std::io::stdout(), "these facts: {sentence}");
}
