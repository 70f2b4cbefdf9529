//! Nodes that are told to end in the middle of their work.

use crate::{locks::LockServer, member::Event, run::Run};
use lockwork_conformance::workflows::{Plan, uninterrupted};
use std::time::Duration;
use tokio::sync::oneshot;

/// So long that nothing would be over in time if others had to wait for it.
const LEASE: Duration = Duration::from_secs(60);

const NODES: usize = 2;

/// How often one is told to end.
const ENDS: usize = 8;

/// How often all of it is done, until one was told to end in the middle of its work.
const RUNS: usize = 3;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nodes_that_are_told_to_end_hand_over_lose_nothing_and_do_nothing_twice() {
    for _ in 0..RUNS {
        if interrupted_bursts().await > 0 {
            return;
        }
    }
    panic!("none was in the middle of its work: not within {RUNS} runs");
}

/// One after the other ends, another one takes its place, and those that are there go on at once with what it had in hand.
/// How many bursts were under way then.
async fn interrupted_bursts() -> usize {
    let plan = Plan::new(29, 120).unwrap();
    let mut run = Run::new(LockServer::redis().await, LEASE, &plan).await;
    let (members, events) = run.members(NODES);
    let mut longest = Duration::ZERO;
    for (round, orders) in plan
        .orders
        .chunks(plan.orders.len().div_ceil(ENDS))
        .enumerate()
    {
        run.give(orders.iter().cloned());
        run.look_for_tasks().await;
        // It has as much in hand as it takes at once.
        run.until_told().await;
        let (asked, took) = oneshot::channel();
        let told = events[round % NODES].send(Event::End(asked)).await;
        told.expect("this place in the cluster is taken");
        longest = longest.max(took.await.expect("it ends"));
    }
    let (found, interrupted) = uninterrupted(run.over(members, events).await);
    let what = format!(
        "{ENDS} told to end, each within {longest:.1?}, with {interrupted} bursts under way"
    );
    run.check(&found, &what);
    interrupted
}
