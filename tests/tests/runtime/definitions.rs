//! Publishing workflows, and what starts instances of them.

use crate::support::{World, definition, of, soon};
use lockwork::flow::build::*;
use lockwork::runtime::{Clock, ErrorKind, RefreshStatus, store::VersionRow};
use lockwork::workflow::{DefinitionHandle, SubStatus, VersionSelect};
use serde_json::json;
use std::time::Duration;

fn says(text: &str) -> Workflow {
    let steps = [event("go", "Go").starts(), log("say", text)];
    workflow("w").root(sequence("all", steps))
}

async fn version(world: &World, select: VersionSelect) -> Option<u32> {
    let handle = DefinitionHandle::Of {
        definition: definition("w"),
        select,
    };
    let found = soon(world.runtime().definitions().resolve(&handle)).await;
    found.ok().map(|row| row.number)
}

async fn draft(world: &World, workflow: Workflow) -> VersionRow {
    let built = workflow.build().unwrap();
    soon(world.runtime().definitions().draft(built))
        .await
        .unwrap()
}

#[tokio::test]
async fn an_event_starts_one_instance_of_each_workflow_that_begins_with_it_and_is_not_kept() {
    let world = World::new().await;
    world.publish(says("one")).await;
    world
        .publish(workflow("v").root(event("go", "Go").starts()))
        .await;
    world
        .publish(workflow("u").root(event("go", "Other").starts()))
        .await;
    let reached = world.event("Go", json!({})).await;
    assert_eq!(reached.started.len(), 2);
    assert!(!reached.queued && world.waiting().await.is_empty());
    assert_eq!((world.settle().await, world.count().await), (0, 2));
}

#[tokio::test]
async fn an_event_that_starts_an_instance_brings_what_it_has() {
    let world = World::new().await;
    let root = event("go", "Go").starts().into("got");
    world
        .publish(workflow("w").variable("got", ()).root(root))
        .await;
    let reached = world.event("Go", json!({ "n": 1 })).await;
    let id = reached.started[0].instance.to_string();
    assert_eq!(world.state(&id).await.variables["got"], json!({ "n": 1 }));
}

#[tokio::test]
async fn an_event_starts_some_and_resumes_others() {
    let world = World::new().await;
    world.publish(says("one")).await;
    world.publish(workflow("v").root(event("go", "Go"))).await;
    world.start("a", of("v")).await;
    let reached = world.event("Go", json!({})).await;
    assert_eq!((reached.started.len(), reached.resumed.len()), (1, 1));
}

#[tokio::test]
async fn the_same_published_again_is_no_new_version() {
    let world = World::new().await;
    let first = world.publish(says("one")).await;
    let before = soon(world.store.triggers(&definition("w"))).await.unwrap();
    world.clock.advance(Duration::from_secs(5));
    let second = world.publish(says("one")).await;
    assert_eq!(first, second);
    assert_eq!(
        soon(world.store.triggers(&definition("w"))).await.unwrap(),
        before
    );
    assert_eq!(world.event("Go", json!({})).await.started.len(), 1);
}

#[tokio::test]
async fn a_new_version_takes_over_the_starts_and_what_runs_stays_with_its_own() {
    let world = World::new().await;
    let waits = |text: &str| {
        let steps = [
            event("go", "Go").starts(),
            event("wait", "On"),
            log("say", text),
        ];
        workflow("w").root(sequence("all", steps))
    };
    world.publish(waits("old")).await;
    let old = world.event("Go", json!({})).await.started[0]
        .instance
        .to_string();
    world.publish(waits("new")).await;
    let started = world.event("Go", json!({})).await.started;
    assert_eq!(started.len(), 1);
    let new = started[0].instance.to_string();
    assert_eq!(world.event("On", json!({})).await.resumed.len(), 2);
    assert_eq!(world.logged(&old).await, ["old"]);
    assert_eq!(world.logged(&new).await, ["new"]);
}

#[tokio::test]
async fn a_start_that_a_new_version_has_no_more_starts_nothing() {
    let world = World::new().await;
    world.publish(says("one")).await;
    world.publish(workflow("w").root(log("say", "two"))).await;
    let reached = world.event("Go", json!({})).await;
    assert!(reached.started.is_empty() && reached.queued);
}

#[tokio::test]
async fn what_was_retracted_is_started_by_nothing() {
    let world = World::new().await;
    world.publish(says("one")).await;
    assert!(
        soon(world.runtime().definitions().retract(&definition("w")))
            .await
            .unwrap()
    );
    assert!(world.event("Go", json!({})).await.started.is_empty());
    let again = world.publish(says("one")).await;
    assert_eq!((again.number, again.published), (1, true));
    assert_eq!(world.event("Go", json!({})).await.started.len(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_two_who_publish_at_once_both_make_a_version_and_one_counts() {
    let world = World::new().await;
    let other = world.node(|builder| builder);
    let (one, two) = tokio::join!(world.publish(says("one")), other.publish(says("two")));
    assert_ne!(one.number, two.number);
    let all = soon(world.store.versions(Some(&definition("w"))))
        .await
        .unwrap();
    let published: Vec<_> = all.iter().filter(|row| row.published).collect();
    assert_eq!((all.len(), published.len()), (2, 1));
    assert_eq!(published[0].number, 2);
    assert_eq!(world.event("Go", json!({})).await.started.len(), 1);
}

#[tokio::test]
async fn versions_are_found_by_what_they_are() {
    use VersionSelect::{Draft, Latest, Number, Published, PublishedOrLatest};
    let world = World::new().await;
    assert_eq!(version(&world, Latest).await, None);
    draft(&world, says("one")).await;
    assert_eq!(version(&world, Published).await, None);
    assert_eq!(version(&world, PublishedOrLatest).await, Some(1));
    world.publish(says("two")).await;
    assert_eq!(version(&world, Draft).await, None);
    draft(&world, says("three")).await;
    let all = [
        Published,
        Latest,
        Draft,
        PublishedOrLatest,
        Number(1),
        Number(4),
    ];
    let mut found = Vec::new();
    for select in all {
        found.push(version(&world, select).await);
    }
    assert_eq!(found, [Some(2), Some(3), Some(3), Some(2), Some(1), None]);
}

#[tokio::test]
async fn a_draft_starts_nothing_and_can_be_run_by_whoever_asks_for_it() {
    let world = World::new().await;
    let row = draft(&world, says("draft")).await;
    assert!(world.event("Go", json!({})).await.started.is_empty());
    let create = lockwork::workflow::Create::new(DefinitionHandle::Version(row.id));
    assert_eq!(
        world.start("a", create).await.sub_status,
        SubStatus::Suspended
    );
}

#[tokio::test]
async fn what_cannot_be_executed_is_not_published() {
    let world = World::new().await;
    let unknown = workflow("w")
        .root(activity("Nothing", "n"))
        .build()
        .unwrap();
    let refused = soon(world.runtime().definitions().publish(unknown)).await;
    assert_eq!(refused.unwrap_err().kind(), ErrorKind::Invalid);
    assert!(soon(world.store.versions(None)).await.unwrap().is_empty());
}

#[tokio::test]
async fn all_are_refreshed_or_some_and_those_that_are_not_there_are_named() {
    let world = World::new().await;
    world.publish(says("one")).await;
    world
        .publish(workflow("v").root(event("go", "Go").starts()))
        .await;
    draft(&world, workflow("u").root(log("l", "l"))).await;
    let refresher = world.runtime().refresher();
    let all = soon(refresher.refresh(None)).await.unwrap();
    assert_eq!(all.refreshed, [definition("v"), definition("w")]);
    assert_eq!(
        (all.status, all.not_found.len()),
        (RefreshStatus::Completed, 0)
    );
    let some = vec![definition("w"), definition("u"), definition("none")];
    let some = soon(refresher.refresh(Some(some))).await.unwrap();
    assert_eq!(some.refreshed, [definition("w")]);
    assert_eq!(some.not_found, [definition("none"), definition("u")]);
    assert_eq!(
        world.event("Go", json!({})).await.started.len(),
        2,
        "each starts once"
    );
}

#[tokio::test]
async fn what_is_found_out_again_keeps_its_next_time() {
    let world = World::new().await;
    world
        .publish(workflow("w").root(timer("tick", "10m").starts()))
        .await;
    let before = soon(world.store.triggers(&definition("w"))).await.unwrap();
    world.clock.advance(Duration::from_secs(300));
    soon(world.runtime().refresher().refresh(None))
        .await
        .unwrap();
    world
        .publish(
            workflow("w")
                .name("Another")
                .root(timer("tick", "10m").starts()),
        )
        .await;
    let after = soon(world.store.triggers(&definition("w"))).await.unwrap();
    assert_eq!(before, after);
    assert_eq!(
        before[0].next,
        Some(world.clock.now().after(Duration::from_secs(300)))
    );
}

#[tokio::test]
async fn what_the_program_defines_is_there_once_it_has_started_and_again_when_it_is_reloaded() {
    let defined = vec![says("one").build().unwrap()];
    let world = World::with(|builder| builder.provider(defined)).await;
    soon(world.runtime().start()).await.unwrap();
    assert_eq!(version(&world, VersionSelect::Published).await, Some(1));
    soon(world.runtime().definitions().retract(&definition("w")))
        .await
        .unwrap();
    assert_eq!(version(&world, VersionSelect::Published).await, None);
    let reloaded = soon(world.runtime().reloader().reload()).await.unwrap();
    assert_eq!(reloaded.published, [definition("w")]);
    assert_eq!(version(&world, VersionSelect::Published).await, Some(1));
    assert_eq!(
        soon(world.store.triggers(&definition("w")))
            .await
            .unwrap()
            .len(),
        1
    );
    soon(world.runtime().drain()).await;
}
