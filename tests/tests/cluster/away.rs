//! A store that is away for a while: all nodes stay, and go on by themselves.

use crate::{asked, locks::LockServer, member::Event, run::Run};
use lockwork_conformance::{within, workflows::Plan};
use std::time::Duration;
use tokio::{
    sync::{mpsc, oneshot},
    time::sleep,
};

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
    let (long, say_so) = (sleep(away), until_all(&events, false));
    tokio::join!(long, say_so);
    run.store_is_back();
    until_all(&events, true).await;
    let found = run.over(members, events).await;
    run.check(&found, &format!("the store away for {away:?}"));
}

/// Ends when each node has said that it is ready, or that it is not.
async fn until_all(nodes: &[mpsc::Sender<Event>], ready: bool) {
    let all = async {
        for node in nodes {
            while is_ready(node).await != ready {
                sleep(Duration::from_millis(50)).await;
            }
        }
    };
    let what = format!("all nodes say whether they are ready ({ready})");
    within(Duration::from_secs(30), &what, all).await;
}

async fn is_ready(node: &mpsc::Sender<Event>) -> bool {
    let (by, answer) = oneshot::channel();
    let told = node.send(Event::Ask(by)).await;
    told.expect("this place in the cluster is taken");
    answer.await.expect("it lives").is_none()
}
