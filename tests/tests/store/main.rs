//! What a store promises, asked of it directly and without a runtime: one list of cases, run against every store.
//! `cargo test --test store -- sqlite::claiming::` runs some of them.
//!
//! A store that cannot be reached shows as ignored, with the reason; named in `LOCKWORK_REQUIRE` (`store-postgres`, say)
//! that is a failure. No case can hang.

#![allow(
    clippy::unwrap_used,
    clippy::future_not_send,
    reason = "a case says what it expects by unwrapping it, and stays on the thread that runs it"
)]

mod cancelling;
mod claiming;
mod committing;
mod creating;
mod definitions;
mod deleting;
mod edges;
mod errands;
mod finding;
mod firing;
mod following;
mod importing;
mod jobs;
mod keeping;
mod letters;
mod nodes;
mod paging;
mod racing;
mod racing_stimuli;
mod stimuli;
mod support;
mod timers;
mod together;

use libtest_mimic::{Arguments, Trial};
use lockwork_conformance::{StoreKind, absent, trial};
use std::process::ExitCode;
use support::{CROWD, Case, Cx};
use tokio::sync::Semaphore;

fn main() -> ExitCode {
    let trials = StoreKind::EVERY.into_iter().flat_map(of_store).collect();
    let mut args = Arguments::from_args();
    // Most of what a case does is wait.
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    args.test_threads.get_or_insert(cores.max(4));
    libtest_mimic::run(&args, trials).exit_code()
}

fn cases() -> impl Iterator<Item = (&'static str, Case)> {
    let groups = [
        ("creating", creating::list()),
        ("claiming", claiming::list()),
        ("committing", committing::list()),
        ("following", following::list()),
        ("finding", finding::list()),
        ("paging", paging::list()),
        ("cancelling", cancelling::list()),
        ("deleting", deleting::list()),
        ("importing", importing::list()),
        ("errands", errands::list()),
        ("stimuli", stimuli::list()),
        ("firing", firing::list()),
        ("timers", timers::list()),
        ("letters", letters::list()),
        ("definitions", definitions::list()),
        ("jobs", jobs::list()),
        ("nodes", nodes::list()),
        ("edges", edges::list()),
        ("keeping", keeping::list()),
        ("racing", racing::list()),
        ("together", together::list()),
        ("racing_stimuli", racing_stimuli::list()),
    ];
    let named = |(group, cases): (_, Vec<Case>)| cases.into_iter().map(move |case| (group, case));
    groups.into_iter().flat_map(named)
}

/// One crowd at a time: it keeps the machine busy by itself, and a server let nobody in for seconds while several began.
static CROWDS: Semaphore = Semaphore::const_new(1);

fn of_store(kind: StoreKind) -> Vec<Trial> {
    if let Err(why) = support::reached(kind) {
        return vec![absent(
            &format!("store-{}", kind.name()),
            &why,
            kind.is_required(),
        )];
    }
    let of_case = |(group, case): (&str, Case)| {
        let name = format!("{}::{group}::{}", kind.name(), case.name);
        trial(name, case.limit, move || async move {
            let _turn = match case.limit == CROWD {
                true => Some(CROWDS.acquire().await.expect("it is never closed")),
                false => None,
            };
            (case.body)(Cx::new(kind).await).await;
        })
    };
    cases().map(of_case).collect()
}
