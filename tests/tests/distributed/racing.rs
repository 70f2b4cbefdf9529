//! Several nodes that are told the same at once.

use crate::{
    place::Place,
    sharing::three,
    support::{World, event_called, instance, joined, of},
};
use lockwork::{
    flow::{Activation, build::*},
    runtime::ErrorKind,
    workflow::{Addressee, SubStatus},
};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_what_may_run_once_one_node_of_three_starts_one() {
    let place = Place::new();
    let nodes = three(&place).await;
    let single = workflow("w").activation(Activation::Single);
    nodes[0].publish(single.root(event("wait", "On"))).await;
    let starts: Vec<_> = (0..24)
        .map(|at| nodes[at % 3].spawn_start(&format!("a{at}"), of("w")))
        .collect();
    let mut started = 0;
    for start in starts {
        match joined(start).await {
            Ok(_) => started += 1,
            Err(error) => assert_eq!(error.kind(), ErrorKind::Conflict),
        }
    }
    assert_eq!((started, nodes[0].count().await), (1, 1));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_event_that_three_nodes_are_told_at_once_starts_one_for_each_correlation() {
    let place = Place::new();
    let nodes = three(&place).await;
    let root = sequence("all", [event("go", "Go").starts(), event("wait", "On")]);
    let single = workflow("w").activation(Activation::SingleCorrelation);
    nodes[0].publish(single.root(root)).await;
    let told: Vec<_> = (0..30)
        .map(|at| {
            let correlation = format!("order-{}", at / 3);
            told(&nodes[at % 3], to(|to| to.correlation = Some(correlation)))
        })
        .collect();
    for told in told {
        joined(told).await;
    }
    for node in &nodes {
        node.settle().await;
    }
    assert_eq!(nodes[0].count().await, 10);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn events_for_one_bookmark_by_different_addressees_on_three_nodes_resume_it_once() {
    let place = Place::new();
    let nodes = three(&place).await;
    let steps = [event("wait", "Go"), log("then", "went"), event("on", "On")];
    nodes[0]
        .publish(workflow("w").root(sequence("all", steps)))
        .await;
    for round in 0..20 {
        let id = format!("i{round}");
        nodes[0].start(&id, of("w").correlation(&id)).await;
        let bookmark = nodes[0].bookmark(&id).await;
        let sent = [
            told(&nodes[0], to(|to| to.instance = Some(instance(&id)))),
            told(&nodes[1], to(|to| to.correlation = Some(id.clone()))),
            told(&nodes[2], to(|to| to.bookmark = Some(bookmark))),
        ];
        for sent in sent {
            joined(sent).await;
        }
        for node in &nodes {
            node.settle().await;
        }
        assert_eq!(nodes[0].logged(&id).await, ["went"]);
        assert_eq!(nodes[0].status(&id).await, SubStatus::Suspended);
    }
}

fn to(change: impl FnOnce(&mut Addressee)) -> Addressee {
    let mut to = Addressee::default();
    change(&mut to);
    to
}

/// One node is told that `Go` has happened, while the test goes on.
fn told(node: &World, to: Addressee) -> tokio::task::JoinHandle<()> {
    let (sender, go) = (node.runtime().sender(), event_called("Go").to(to));
    tokio::spawn(async move { sender.send(go).await.map(drop).expect("the store answers") })
}
