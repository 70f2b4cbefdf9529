//! A store that is away for a while: all nodes stay, and go on by themselves.

use crate::{asked, locks::LockServer, run::Run};
use lockwork_conformance::workflows::Plan;
use std::time::Duration;
use tokio::time::sleep;

const NODES: usize = 3;

const LEASE: Duration = Duration::from_secs(2);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nodes_stay_while_their_store_is_away_and_go_on_when_it_is_back() {
    let away = Duration::from_secs(asked("LOCKWORK_AWAY", 6));
    let plan = Plan::new(31, 60).unwrap();
    let mut run = Run::new(LockServer::redis().await, LEASE, &plan).await;
    let (members, events) = run.members(NODES);
    run.until_alive(NODES).await;
    let (before, after) = plan.orders.split_at(plan.orders.len() / 2);
    run.give(before.iter().cloned());
    run.until_told().await;
    run.store_stops();
    // They are told meanwhile what they cannot do; it is told again until they can.
    run.give(after.iter().cloned());
    sleep(away).await;
    run.store_is_back();
    let found = run.over(members, events).await;
    run.check(&found, &format!("the store away for {away:?}"));
}
