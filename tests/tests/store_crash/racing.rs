//! Two nodes without any lock between them: the store alone decides which bursts count.

use crate::{
    asked,
    counters::{self, agree_with_their_journals, bookmark, one, patiently, until_told},
    left::until_nothing_is_left,
    place::Place,
};
use lockwork::{
    runtime::{LocalRuntime, Store},
    workflow::{Delivery, ErrorKind, InstanceId, Values},
};
use lockwork_conformance::within;
use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    time::{Duration, Instant},
};
use tokio::task::JoinSet;

/// Few enough that the nodes meet at each of them again and again.
const COUNTERS: usize = 8;

/// So many tasks on each node for each of the counters.
const TASKS: usize = 2;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_is_lost_or_doubled_by_two_nodes_without_locks_on_sqlite() {
    race(Place::sqlite()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_is_lost_or_doubled_by_two_nodes_without_locks_on_postgres() {
    race(Place::postgres()).await;
}

/// What became of all the bursts.
#[derive(Debug, Default)]
struct Tally {
    begun: AtomicU64,
    sent: AtomicU64,
    resumed: AtomicU64,
    late: AtomicU64,
    fenced: AtomicU64,
    /// Those that may have counted: the store was out of reach when it was asked. None, on most days.
    unknown: AtomicU64,
}

async fn race(place: Place) {
    let (bursts, begun) = (asked("LOCKWORK_BURSTS", 10_000), Instant::now());
    let nodes = [place.store().await, place.store().await].map(counters::node);
    let counters = counters::new(&nodes[0], COUNTERS).await;
    let (tally, mut tasks) = (Arc::new(Tally::default()), JoinSet::new());
    for node in &nodes {
        node.start().await.unwrap();
        for counter in counters
            .iter()
            .flat_map(|one| std::iter::repeat_n(one, TASKS))
        {
            let (node, counter, tally) = (node.clone(), counter.clone(), Arc::clone(&tally));
            tasks.spawn(async move { add(&node, &counter, &tally, bursts).await });
        }
    }
    let limit = Duration::from_secs(180);
    within(limit, "all bursts are over", tasks.join_all()).await;
    let store = nodes[0].store().clone();
    settle(&*store, &counters, &tally).await;
    let [first, second] = nodes;
    tokio::join!(first.drain(), second.drain());
    println!("{tally:?} in {:?}", begun.elapsed());
    agree_with_their_journals(&*store, &counters).await;
    assert!(
        tally.fenced.load(Relaxed) > 0,
        "nobody met anybody: {tally:?}"
    );
}

/// Adds one, again and again: by an event, which counts once in any case, or at a bookmark, where it counts or is told not
/// to.
async fn add(node: &LocalRuntime, counter: &InstanceId, tally: &Tally, bursts: u64) {
    loop {
        let number = tally.begun.fetch_add(1, Relaxed);
        if number >= bursts {
            return;
        }
        if number.is_multiple_of(4) {
            let add = one(counter, format!("add {number}"));
            until_told(node, add).await;
            tally.sent.fetch_add(1, Relaxed);
            continue;
        }
        let bookmark = patiently(|| bookmark(&**node.store(), counter)).await;
        let resumed = node
            .resumer()
            .resume(counter, bookmark, Values::new())
            .await;
        let outcome = match resumed {
            Ok(ran) if ran.delivery == Delivery::Done => &tally.resumed,
            Ok(_) => &tally.late,
            Err(error) if error.kind() == ErrorKind::Fenced => &tally.fenced,
            Err(error) if error.is_transient() => &tally.unknown,
            Err(error) => panic!("{error}"),
        };
        outcome.fetch_add(1, Relaxed);
    }
}

/// Waits until every event has arrived, and fails if more has been added than that.
async fn settle(store: &dyn Store, counters: &[InstanceId], tally: &Tally) {
    let least = tally.sent.load(Relaxed) + tally.resumed.load(Relaxed);
    let most = least + tally.unknown.load(Relaxed);
    let sum = || patiently(|| counters::sum(store, counters));
    within(Duration::from_secs(60), "all events have arrived", async {
        while sum().await < least {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    })
    .await;
    until_nothing_is_left(store).await;
    let found = sum().await;
    assert!(
        (least..=most).contains(&found),
        "{found} counted, {tally:?}"
    );
}
