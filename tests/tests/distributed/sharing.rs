//! Work that several nodes share, each with workers of its own: done once, by whoever comes first.

use crate::{
    place::Place,
    support::{World, definition, of, soon},
};
use lockwork::{
    flow::build::*,
    runtime::{SystemClock, store::Filter},
    workflow::SubStatus,
};
use serde_json::json;
use std::time::Duration;

/// Three nodes on one store, the first of which publishes. They do not look for work yet.
pub(crate) async fn three(place: &Place) -> [World; 3] {
    let first = place.world().await;
    let [second, third] = [(); 2].map(|()| first.node(|builder| place.join(builder)));
    [first, second, third]
}

/// The same by the clock of this machine.
async fn three_that_keep_time(place: &Place) -> [World; 3] {
    let first = World::with(|builder| place.join(builder).clock(SystemClock)).await;
    let another = || first.node(|builder| place.join(builder).clock(SystemClock));
    let [second, third] = [another(), another()];
    [first, second, third]
}

async fn start(nodes: &[World]) {
    for node in nodes {
        soon(node.runtime().start()).await.unwrap();
    }
}

async fn drain(nodes: &[World]) {
    for node in nodes {
        soon(node.runtime().drain()).await;
    }
}

/// How many instances of this are over.
async fn over(world: &World, id: &str) -> usize {
    let filter = Filter {
        definition: Some(definition(id)),
        ..Filter::default()
    };
    let all = soon(world.store.list(filter)).await.unwrap();
    let over = |status| matches!(status, SubStatus::Finished | SubStatus::Faulted);
    let all = all.iter().filter(|one| over(one.state.sub_status));
    all.count()
}

/// Ends when so many are.
async fn until_over(world: &World, id: &str, count: usize) {
    soon(async {
        while over(world, id).await < count {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_parent_of_many_children_that_end_on_several_nodes_is_told_of_each_once() {
    const CHILDREN: usize = 1000;
    let place = Place::new();
    let nodes = three_that_keep_time(&place).await;
    let bad = if_("bad", expr("input.item % 10 == 0")).then(fault("no", "no", "no"));
    let child = sequence("all", [call("here", "gate"), bad]);
    let items: Vec<_> = (0..CHILDREN).collect();
    let bulk = bulk_dispatch("all", "child", json!(items)).with("wait", true);
    let bulk = bulk.activity("faulted", log("told", "told")).into("got");
    nodes[0].publish(workflow("child").root(child)).await;
    let parent = workflow("parent").variable("got", ());
    nodes[0].publish(parent.root(bulk)).await;
    start(&nodes).await;
    nodes[0].start("p", of("parent")).await;
    for node in &nodes {
        node.gate.called(1).await;
    }
    nodes.iter().for_each(|node| node.gate.open());
    until_over(&nodes[0], "parent", 1).await;
    let state = nodes[0].state("p").await;
    assert_eq!(state.variables["got"]["completed"], json!(900));
    assert_eq!(state.variables["got"]["faulted"], json!(100));
    assert_eq!(nodes[0].logged("p").await.len(), 100, "once for each");
    assert_eq!(over(&nodes[0], "child").await, CHILDREN);
    let ran = nodes.each_ref().map(|node| node.gate.calls());
    assert_eq!(ran.iter().sum::<usize>(), CHILDREN, "{ran:?}");
    println!("children by node: {ran:?}");
    assert!(nodes[0].waiting().await.is_empty());
    drain(&nodes).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_schedule_starts_one_instance_each_time_on_three_nodes_that_look_for_it() {
    let place = Place::new();
    let nodes = three(&place).await;
    let hourly = cron("hourly", "0 * * * *").starts();
    let timer = timer("tick", "1h").starts();
    nodes[0].publish(workflow("cron").root(hourly)).await;
    nodes[0].publish(workflow("timer").root(timer)).await;
    start(&nodes).await;
    for hour in 1..=24 {
        nodes[0].clock.advance(Duration::from_secs(3600));
        for id in ["cron", "timer"] {
            until_over(&nodes[0], id, hour).await;
        }
    }
    drain(&nodes).await;
    nodes[0].settle().await;
    assert_eq!(nodes[0].count().await, 48, "no more than one each time");
}

#[tokio::test]
async fn a_parent_goes_on_although_the_node_died_that_ended_its_child() {
    let place = Place::new();
    let nodes = three(&place).await;
    let child = workflow("child").root(event("wait", "Go"));
    nodes[0].publish(child).await;
    let waits = dispatch("child", "child").with("wait", true);
    let root = sequence("all", [waits, log("then", "went")]);
    nodes[0].publish(workflow("parent").root(root)).await;
    nodes[0].start("p", of("parent")).await;
    nodes[0].settle().await;
    let reached = nodes[1].event("Go", json!({})).await;
    assert_eq!(reached.resumed[0].sub_status, SubStatus::Finished);
    // That node is never asked again. What it has committed says that the parent is to be told.
    assert_eq!(nodes[0].status("p").await, SubStatus::Suspended);
    nodes[2].settle().await;
    assert_eq!(nodes[0].status("p").await, SubStatus::Finished);
    assert_eq!(nodes[0].logged("p").await, ["went"]);
}
