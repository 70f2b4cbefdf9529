//! Processes that are killed: the next one is in soon, and numbers never fall.

use crate::{contender::Contender, directory::Directory};
use lockwork::Instant;
use lockwork_conformance::generous;
use rand::RngExt;
use std::time::Duration;

const ROUNDS: usize = 50;
const SOON: Duration = Duration::from_millis(100);

/// Kills a holder for whom somebody waits, again and again; how long the slowest took.
fn slowest_takeover(options: &str) -> Duration {
    let directory = Directory::new();
    let url = format!("{}{options}", directory.url());
    let allowed = generous(SOON);
    let mut slowest = Duration::ZERO;
    let mut holder = Contender::new(&url, "take", "x", 1);
    holder.go();
    assert!(holder.line().unwrap().starts_with("held"));
    for round in 0..ROUNDS {
        let mut next = Contender::new(&url, "take", "x", 1);
        next.go();
        // Long enough to have begun to wait, mostly; who has not is in at once.
        std::thread::sleep(Duration::from_millis(30));
        let killed = Instant::now();
        assert!(holder.kill().is_empty());
        let held = next.line().unwrap();
        let at = held.strip_prefix("held ").unwrap().parse().unwrap();
        let took = Instant::from_nanos(at).saturating_duration_since(killed);
        assert!(
            took < allowed,
            "too late: round {round}: {took:?} of {allowed:?}"
        );
        slowest = slowest.max(took);
        holder = next;
    }
    slowest
}

#[test]
fn whoever_waits_for_a_killed_process_is_in_within_100_ms() {
    println!("the slowest of {ROUNDS}: {:?}", slowest_takeover(""));
}

#[test]
fn whoever_looks_for_itself_is_in_within_100_ms_of_a_kill() {
    println!(
        "the slowest of {ROUNDS}: {:?}",
        slowest_takeover("?poll=true")
    );
}

/// So many tokens are given out at least, by so many processes one after the other, of which each
/// is killed.
const TOKENS: usize = 20_000;
const KILLS: usize = 50;

#[test]
fn a_token_never_falls_when_its_counter_is_killed_at_any_moment() {
    let directory = Directory::new();
    let (mut last, mut seen, mut kills) = (0, 0, 0);
    while kills < KILLS || seen < TOKENS {
        // Two, so that one is killed while it waits, too.
        let mut two = [(); 2].map(|()| Contender::new(&directory.url(), "count", "x", 1));
        two.iter_mut().for_each(Contender::go);
        let moment = rand::rng().random_range(1_000..60_000);
        std::thread::sleep(Duration::from_micros(moment));
        let mut tokens = Vec::new();
        for contender in two {
            let of_one = contender.kill();
            let of_one: Vec<u64> = of_one.iter().map(|line| line.parse().unwrap()).collect();
            assert!(of_one.is_sorted_by(|one, next| one < next), "{of_one:?}");
            tokens.extend(of_one);
            kills += 1;
        }
        tokens.sort_unstable();
        let all = tokens.len();
        tokens.dedup();
        assert_eq!(tokens.len(), all, "two had one token");
        let lowest = tokens.first().copied().unwrap_or(u64::MAX);
        assert!(lowest > last, "{lowest} after {last}");
        last = tokens.last().copied().unwrap_or(last);
        seen += all;
        assert!(kills < 100 * KILLS, "only {seen} tokens");
    }
    println!("{seen} tokens, {kills} kills");
}
