//! A process that takes locks, line by line, and waits to be killed.
//!
//! Orders on standard input: `lock NAME`, `release`, `watch MILLISECONDS`, `off`, `exit`. Answers on
//! standard output: `ready`, `held TOKEN`, `released`, `watching`, `looked VALIDITY LOSS`, `off WHEN`.

use lockwork::{Guard, Instant, Locks};
use lockwork_conformance::standin;
use std::{
    io::{BufRead, Write},
    time::Duration,
};

#[tokio::main(worker_threads = 2)]
async fn main() {
    let url = std::env::args().nth(1).expect("usage: taker URL");
    let registry = lockwork::registry()
        .with(standin::LEASE)
        .with(standin::SESSION);
    let locks = registry
        .connect(&url)
        .await
        .expect("the URL can be connected to");
    say("ready");
    let mut guards = Vec::new();
    for order in std::io::stdin().lock().lines() {
        obey(&order.expect("a line"), &locks, &mut guards).await;
    }
}

async fn obey(order: &str, locks: &Locks, guards: &mut Vec<Guard>) {
    match order.split_once(' ').unwrap_or((order, "")) {
        ("lock", name) => {
            let guard = locks.mutex(name).lock().await.expect("a lock");
            let token = guard.token().map(|token| token.to_string());
            say(&format!("held {}", token.unwrap_or_else(|| "none".into())));
            guards.push(guard);
        }
        ("release", _) => {
            let guard = guards.pop().expect("something to release");
            guard.release().await.expect("a release");
            say("released");
        }
        ("watch", gap) => {
            let gap = Duration::from_millis(gap.parse().expect("milliseconds"));
            let guard = guards.pop().expect("something to watch");
            std::thread::spawn(move || watch(&guard, gap))
                .join()
                .expect("no panic");
        }
        ("off", _) => {
            let guard = guards.pop().expect("something to lose");
            say("watching");
            guard.lost().await;
            say(&format!("off {}", Instant::now().as_nanos()));
        }
        ("exit", _) => std::process::exit(0),
        _ => panic!("unknown order {order:?}"),
    }
}

/// Looks at the guard without pause until there was a gap between two looks, as there is when
/// somebody froze the process; then tells what the first look after it found.
fn watch(guard: &Guard, gap: Duration) {
    let mut looked_at = Instant::now();
    say("watching");
    loop {
        let before = Instant::now();
        let valid = guard.is_valid();
        let after = Instant::now();
        // A gap inside the look says nothing: the answer may be from before it.
        if before.saturating_duration_since(looked_at) >= gap {
            let validity = if valid { "valid" } else { "invalid" };
            let loss = if told_within(guard, TELLING) {
                "lost"
            } else {
                "untold"
            };
            return say(&format!("looked {validity} {loss}"));
        }
        looked_at = if after.saturating_duration_since(before) >= gap {
            before
        } else {
            after
        };
    }
}

/// Long, because who thaws beside a busy machine may have to wait for its turn; the guard is not
/// valid meanwhile.
const TELLING: Duration = Duration::from_secs(5);

/// Whether a loss is told before `limit` is over.
fn told_within(guard: &Guard, limit: Duration) -> bool {
    let start = Instant::now();
    while start.elapsed() < limit {
        if guard.lost().get().is_some() {
            return true;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    false
}

fn say(answer: &str) {
    println!("{answer}");
    std::io::stdout().flush().expect("a pipe");
}
