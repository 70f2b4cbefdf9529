//! Nodes, as others and their operators see them.

use crate::{
    place::{Place, until},
    support::{World, of, soon},
};
use lockwork::{
    flow::build::*,
    runtime::{Options, Readiness},
    workflow::{Run, SubStatus},
};
use serde_json::json;
use std::time::{Duration, Instant};

/// What it holds is held for so long that other tests beside it do not make it late.
fn called(name: &str) -> Options {
    let mut options = Options::default();
    options.node = name.to_owned();
    options.hold = Duration::from_secs(5);
    options
}

#[tokio::test]
async fn nodes_are_known_by_name_with_what_they_run_and_when_they_ended() {
    let place = Place::new();
    let world = World::with(|builder| place.join(builder).options(called("one"))).await;
    let other = world.node(|builder| place.join(builder).options(called("two")));
    world
        .publish(workflow("w").root(call("stay", "gate")))
        .await;
    for node in [&world, &other] {
        soon(node.runtime().start()).await.unwrap();
        until(|| node.runtime().readiness() == Readiness::Ready).await;
    }
    let running = world.spawn_start("a", of("w"));
    world.gate.called(1).await;
    let began = Instant::now();
    loop {
        assert!(
            began.elapsed() < Duration::from_secs(30),
            "too late: this never came"
        );
        let nodes = world.store.nodes().await.unwrap();
        let seen: Vec<_> = nodes
            .iter()
            .map(|node| (&*node.name, node.bursts))
            .collect();
        assert!(nodes.iter().all(|node| node.until > node.beat));
        if seen == [("one", 1), ("two", 0)] {
            break;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    world.gate.open();
    crate::support::joined(running).await.unwrap();
    soon(other.runtime().drain()).await;
    let nodes = world.store.nodes().await.unwrap();
    assert_eq!(nodes[1].until, nodes[1].beat, "it said that it ended");
    soon(world.runtime().drain()).await;
}

#[tokio::test]
async fn a_node_is_ready_once_it_was_started_and_not_while_it_is_paused() {
    let place = Place::new();
    let world = World::with(|builder| place.join(builder).options(called("one"))).await;
    let runtime = world.runtime();
    assert!(matches!(runtime.readiness(), Readiness::NotReady(_)));
    soon(runtime.start()).await.unwrap();
    until(|| runtime.readiness() == Readiness::Ready).await;
    runtime.pause();
    assert!(matches!(runtime.readiness(), Readiness::NotReady(_)));
    runtime.resume();
    assert_eq!(runtime.readiness(), Readiness::Ready);
    soon(runtime.drain()).await;
    assert!(matches!(runtime.readiness(), Readiness::NotReady(_)));
}

#[tokio::test]
async fn of_two_nodes_with_one_name_the_second_is_not_ready_until_the_first_has_ended() {
    let place = Place::new();
    let world = World::with(|builder| place.join(builder).options(called("one"))).await;
    soon(world.runtime().start()).await.unwrap();
    until(|| world.runtime().readiness() == Readiness::Ready).await;
    let twin = world.node(|builder| place.join(builder).options(called("one")));
    soon(twin.runtime().start()).await.unwrap();
    let refused = || match twin.runtime().readiness() {
        Readiness::NotReady(why) => why.contains("its own name"),
        Readiness::Ready => false,
    };
    until(refused).await;
    place.take_away("workflow-node:one").await;
    until(|| {
        twin.runtime().readiness() == Readiness::Ready
            || world.runtime().readiness() == Readiness::Ready
    })
    .await;
    soon(twin.runtime().drain()).await;
    soon(world.runtime().drain()).await;
}

#[tokio::test]
async fn two_nodes_that_resume_one_bookmark_at_once_resume_it_once() {
    let place = Place::new();
    let world = place.world().await;
    let other = world.node(|builder| place.join(builder));
    let root = sequence(
        "all",
        [
            event("wait", "Go"),
            call("then", "note").with("args", "went"),
        ],
    );
    world.publish(workflow("w").root(root)).await;
    for number in 0..20 {
        let id = format!("i{number}");
        world.start(&id, of("w")).await;
        let bookmark = world.bookmark(&id).await;
        let run = || Run::at(lockwork::workflow::Target::Bookmark(bookmark.clone()));
        let (here, there) = (world.client(&id), other.client(&id));
        let (here, there) = tokio::join!(here.run(run()), there.run(run()));
        let done = [here.unwrap(), there.unwrap()];
        assert!(done.iter().all(|ran| ran.sub_status == SubStatus::Finished));
    }
    assert_eq!(world.notes.all(), vec![json!("went"); 20]);
}

#[tokio::test]
async fn three_nodes_do_everything_once() {
    let place = Place::new();
    let world = World::with(|builder| {
        let builder = place.join(builder).options(called("one"));
        builder.clock(lockwork::runtime::SystemClock)
    })
    .await;
    let others = ["two", "three"].map(|name| {
        world.node(|builder| {
            let builder = place.join(builder).options(called(name));
            builder.clock(lockwork::runtime::SystemClock)
        })
    });
    let child = workflow("child").root(call("note", "note").with("args", expr("input.of")));
    let given = json!({ "of": expr("input.of") });
    let root = sequence(
        "all",
        [
            delay("nap", "5ms"),
            execute_workflow("child", "child").with("input", given),
            event("wait", "Go"),
        ],
    );
    world.publish(child.input("of")).await;
    world.publish(workflow("w").input("of").root(root)).await;
    for node in others.iter().chain([&world]) {
        soon(node.runtime().start()).await.unwrap();
    }
    for number in 0..30 {
        let node = [&world, &others[0], &others[1]][number % 3];
        let input = crate::support::values(json!({ "of": number }));
        node.start(&format!("i{number}"), of("w").input(input))
            .await;
    }
    let began = Instant::now();
    let mut over = 0;
    while over < 30 {
        assert!(
            began.elapsed() < Duration::from_secs(50),
            "too late: {over} are over"
        );
        others[0].event("Go", json!({})).await;
        tokio::time::sleep(Duration::from_millis(20)).await;
        over = 0;
        for number in 0..30 {
            let status = world.status(&format!("i{number}")).await;
            over += usize::from(status == SubStatus::Finished);
        }
    }
    let mut notes = world.notes.all();
    notes.sort_by_key(|note| note.as_u64());
    assert_eq!(
        notes,
        (0..30).map(|number| json!(number)).collect::<Vec<_>>()
    );
    for node in others.iter().chain([&world]) {
        soon(node.runtime().drain()).await;
    }
}
