//! Redis where it hurts: servers that die, freeze, forget and are replaced, processes that do, and
//! what it all costs. Each test has a server of its own.
#![cfg(target_os = "linux")]
// What helps a test says what it expects as the test does.
#![allow(clippy::unwrap_used, clippy::future_not_send)]

mod calling;
#[allow(
    dead_code,
    unreachable_pub,
    reason = "shared with the tests of file locks"
)]
#[path = "../file/contender.rs"]
mod contender;
mod crowding;
mod cutting;
mod diagnosing;
mod dropping;
mod failing_over;
mod forgetting;
mod freezing;
mod holding;
mod killing;
mod lining_up;
mod losing_replies;
mod pausing;
mod restarting;
mod runtimes;
#[allow(
    dead_code,
    unreachable_pub,
    reason = "shared with the tests of file locks"
)]
#[path = "../file/stays.rs"]
mod stays;
mod telling;
mod turning_clocks;

use lockwork::{Guard, Locks, redis::Options};
use lockwork_conformance::{Taker, generous, until, within};
use lockwork_servers::{Redis, RedisSettings};
use std::{
    fs,
    path::Path,
    time::{Duration, Instant},
};
use tokio::task::JoinHandle;

/// Long enough for anything that ends at all.
const SOON: Duration = Duration::from_secs(20);

/// Short enough to see it end.
const LEASE: Duration = Duration::from_secs(1);

/// A server that keeps nothing on disk.
fn server() -> Redis {
    Redis::start(RedisSettings::new()).unwrap()
}

/// How to use what listens on `port`, with leases of a second.
fn options(port: u16) -> Options {
    Options::new("127.0.0.1", port).lease(LEASE)
}

/// A client with leases of a second that passes nothing on among its own tasks.
async fn client(port: u16) -> Locks {
    locks(options(port)).await
}

async fn locks(options: Options) -> Locks {
    Locks::with_tenure(options.connect().await.unwrap(), Duration::ZERO)
}

/// Another process that takes locks with leases of a second.
async fn taker(server: &Redis) -> Taker {
    let url = format!("{}?lease=1s&tenure=0s", server.url());
    Taker::start(Path::new(env!("CARGO_BIN_EXE_taker")), &url).await
}

/// Until when these are good.
fn ends(guards: &[Guard]) -> Vec<Option<lockwork::Instant>> {
    guards.iter().map(Guard::valid_until).collect()
}

/// Waits until each of them is good for longer than `before`.
async fn until_renewed(limit: Duration, guards: &[Guard], before: &[Option<lockwork::Instant>]) {
    let later = || ends(guards).iter().zip(before).all(|(now, old)| now > old);
    until(limit, "all are renewed", later).await;
}

/// Waits until so many wait for the mutex, as the server has it.
async fn until_waiting(locks: &Locks, name: &str, count: usize) {
    let deadline = Instant::now() + generous(SOON);
    loop {
        let waiting = locks.mutex(name).holders().await.unwrap().waiting.len();
        if waiting == count {
            return;
        }
        assert!(
            Instant::now() < deadline,
            "{waiting} wait, not {count}: not within {SOON:?}"
        );
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// Begins to wait for the mutex.
fn wait_for(locks: &Locks, name: &str) -> JoinHandle<(Guard, Instant)> {
    let mutex = locks.mutex(name);
    tokio::spawn(async move { (mutex.lock().await.unwrap(), Instant::now()) })
}

/// Takes the mutex and gives it back.
async fn works(locks: &Locks, name: &str) {
    let guard = within(SOON, "a lock", locks.mutex(name).lock()).await;
    guard.unwrap().release().await.unwrap();
}

/// The key of a mutex.
fn key(name: &str) -> String {
    format!("lockwork:1:{{mutex:{name}}}")
}

fn keys(server: &Redis) -> Vec<String> {
    let keys = server.ask(&["KEYS", "*"]).unwrap();
    keys.lines().map(str::to_owned).collect()
}

/// The key of the count that tokens of mutexes are taken from.
const TOKENS: &str = "lockwork:1:tokens";

/// What there is of anybody who holds a lock or waits for one: all but the last tokens, and the notes
/// that an owner is to be refused, which lie about the lock too.
fn left(server: &Redis) -> Vec<String> {
    let mut keys = keys(server);
    let notes: Vec<_> = keys.iter().filter(|key| key.ends_with("}:b")).collect();
    let looked_at: Vec<_> = notes.iter().map(|key| key.replace("}:b", "}")).collect();
    keys.retain(|key| {
        let is_free = || server.ask(&["GET", key]).unwrap() == "?";
        let is_note = key.ends_with("}:b") || key.contains("}:d:");
        let is_token = key.ends_with("}:t") || key == TOKENS;
        !(is_token || is_note || looked_at.contains(key) && is_free())
    });
    keys
}

/// How often the server was asked to run a script.
fn calls(server: &Redis) -> u64 {
    let stats = server.ask(&["INFO", "commandstats"]).unwrap();
    let of = |line: &str| {
        let line = line.strip_prefix("cmdstat_eval")?;
        let line = line.trim_start_matches("sha").strip_prefix(":calls=")?;
        line.split(',').next()?.parse::<u64>().ok()
    };
    stats.lines().filter_map(of).sum()
}

/// The names of our connections.
fn connections(server: &Redis) -> Vec<String> {
    let list = server.ask(&["CLIENT", "LIST"]).unwrap();
    let names = list.lines().filter_map(|line| {
        let mut words = line.split(' ');
        words.find_map(|word| word.strip_prefix("name=lockwork/"))
    });
    names.map(|name| format!("lockwork/{name}")).collect()
}

/// How much of the processor's time the process has used.
fn cpu(pid: u32) -> Duration {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    // The name, in brackets, may have spaces in it: proc(5).
    let (_, rest) = stat.rsplit_once(") ").unwrap();
    let ticks: u64 = rest
        .split(' ')
        .skip(11)
        .take(2)
        .map(|ticks| ticks.parse::<u64>().unwrap())
        .sum();
    // A hundred in a second, on every Linux.
    Duration::from_millis(ticks * 10)
}
