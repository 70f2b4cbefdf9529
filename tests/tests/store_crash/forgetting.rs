//! A server that forgets whatever was not on its disk, again and again, while two nodes without locks count on it.

use crate::{
    asked,
    backends::{backend, kill_one},
    counters::{self, agree_with_their_journals, one, patiently, until_told},
    left::until_nothing_is_left,
};
use lockwork::{runtime::LocalRuntime, workflow::InstanceId};
use lockwork_conformance::{until, within};
use lockwork_servers::{Postgres, Settings};
use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    time::Duration,
};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

/// Few enough that the nodes meet at each of them.
const COUNTERS: usize = 4;

/// How many events are told between two kills, so that claims and commits are under way.
const BETWEEN: u64 = 20;

const LIMIT: Duration = Duration::from_secs(60);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_is_lost_or_doubled_by_two_nodes_whose_server_forgets_claims() {
    // Claims do not wait for the disk, and stay in memory for ten seconds.
    let settings = Settings::new().set("wal_writer_delay", "10000");
    let server = Postgres::start(settings).unwrap();
    let url = format!("{}?sslmode=disable", server.url());
    let mut nodes = Vec::new();
    for _ in 0..2 {
        let store = lockwork::store::connect(&url).await.unwrap();
        nodes.push(counters::node(store));
    }
    let counters = counters::new(&nodes[0], COUNTERS).await;
    let (told, stop, mut tellers) = (Arc::default(), CancellationToken::new(), JoinSet::new());
    for (number, node) in nodes.iter().enumerate() {
        node.start().await.unwrap();
        for counter in &counters {
            let (node, counter) = (node.clone(), counter.clone());
            let (told, stop) = (Arc::clone(&told), stop.clone());
            tellers.spawn(tell(node, counter, number, told, stop));
        }
    }
    let rounds = asked("LOCKWORK_ROUNDS", 6);
    for _ in 0..rounds {
        until_more(&told).await;
        kill_one(&server, backend(&server)).await;
    }
    until_more(&told).await;
    stop.cancel();
    within(LIMIT, "the last ones are told", tellers.join_all()).await;
    check(&nodes, &counters, told.load(Relaxed)).await;
    println!("{} events, {rounds} backends killed", told.load(Relaxed));
}

/// Adds one to a counter, again and again, until stopped.
async fn tell(
    node: LocalRuntime,
    counter: InstanceId,
    number: usize,
    told: Arc<AtomicU64>,
    stop: CancellationToken,
) {
    let mut count = 0;
    while !stop.is_cancelled() {
        until_told(&node, one(&counter, format!("{number} {counter} {count}"))).await;
        count += 1;
        told.fetch_add(1, Relaxed);
    }
}

async fn until_more(told: &AtomicU64) {
    let enough = told.load(Relaxed) + BETWEEN;
    until(LIMIT, "somebody is told", || told.load(Relaxed) >= enough).await;
}

/// Everything that was told was counted, and nothing twice.
async fn check(nodes: &[LocalRuntime], counters: &[InstanceId], expected: u64) {
    let store = Arc::clone(nodes[0].store());
    let sum = || patiently(|| counters::sum(&*store, counters));
    within(LIMIT, "everything has arrived", async {
        while sum().await < expected {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    })
    .await;
    until_nothing_is_left(&*store).await;
    for node in nodes {
        node.clone().drain().await;
    }
    assert_eq!(sum().await, expected);
    agree_with_their_journals(&*store, counters).await;
}
