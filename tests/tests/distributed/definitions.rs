//! Refreshing and publishing, by one node at a time.

use crate::{
    place::{Place, until},
    support::{World, definition, soon},
};
use lockwork::{
    flow::build::*,
    runtime::RefreshStatus::{AlreadyInProgress, Completed},
};

async fn with_two(place: &Place) -> World {
    let world = place.world().await;
    for id in ["order", "bill"] {
        world.publish(workflow(id).root(log("say", "hello"))).await;
    }
    place.asked();
    world
}

#[tokio::test]
async fn refreshing_all_is_done_under_the_lock_of_all() {
    let place = Place::new();
    let world = with_two(&place).await;
    let refreshed = soon(world.runtime().refresher().refresh(None)).await;
    let refreshed = refreshed.unwrap();
    assert_eq!(
        (refreshed.refreshed.len(), refreshed.status),
        (2, Completed)
    );
    let all = ("WorkflowDefinitionsRefresher:All".to_owned(), false);
    assert_eq!(place.asked(), [all]);
}

#[tokio::test]
async fn refreshing_some_is_done_under_the_lock_of_their_sorted_ids() {
    let place = Place::new();
    let world = with_two(&place).await;
    let ids = vec![definition("order"), definition("bill")];
    soon(world.runtime().refresher().refresh(Some(ids)))
        .await
        .unwrap();
    assert_eq!(place.names(), ["WorkflowDefinitionsRefresher:bill,order"]);
}

#[tokio::test]
async fn what_another_node_refreshes_is_already_in_progress_and_named() {
    let place = Place::new();
    let world = with_two(&place).await;
    let _held = place.hold("WorkflowDefinitionsRefresher:bill,order").await;
    let ids = vec![definition("order"), definition("bill")];
    let refresher = world.runtime().refresher();
    let refreshed = soon(refresher.refresh(Some(ids.clone()))).await.unwrap();
    assert_eq!(refreshed.status, AlreadyInProgress);
    assert_eq!(refreshed.busy, ids);
    assert!(refreshed.refreshed.is_empty() && refreshed.not_found.is_empty());
    let all = soon(refresher.refresh(None)).await.unwrap();
    assert_eq!(all.status, Completed, "others do not wait for that");
}

#[tokio::test]
async fn if_another_node_refreshes_all_then_all_that_are_published_are_named() {
    let place = Place::new();
    let world = with_two(&place).await;
    let retracted = definition("order");
    soon(world.runtime().definitions().retract(&retracted))
        .await
        .unwrap();
    let _held = place.hold("WorkflowDefinitionsRefresher:All").await;
    let refreshed = soon(world.runtime().refresher().refresh(None)).await;
    let refreshed = refreshed.unwrap();
    assert_eq!(refreshed.status, AlreadyInProgress);
    assert_eq!(refreshed.busy, [definition("bill")]);
}

#[tokio::test]
async fn reloading_is_done_by_one_node_and_the_other_is_told() {
    let place = Place::new();
    let world = with_two(&place).await;
    let reloaded = soon(world.runtime().reloader().reload()).await.unwrap();
    assert_eq!(reloaded.status, Completed);
    let lock = ("WorkflowDefinitionsReloader".to_owned(), false);
    assert_eq!(place.asked(), [lock]);
    let _held = place.hold("WorkflowDefinitionsReloader").await;
    let reloaded = soon(world.runtime().reloader().reload()).await.unwrap();
    assert_eq!(reloaded.status, AlreadyInProgress);
}

#[tokio::test]
async fn a_node_that_starts_publishes_its_own_after_whoever_is_publishing() {
    let place = Place::new();
    let mine = workflow("mine").root(log("say", "hello")).build().unwrap();
    let world = World::with(|builder| place.join(builder).provider(vec![mine])).await;
    let held = place.hold("WorkflowDefinitionsReloader").await;
    let runtime = world.runtime().clone();
    let starting = tokio::spawn(async move { runtime.start().await });
    let asked = "WorkflowDefinitionsReloader".to_owned();
    until(|| place.names().contains(&asked)).await;
    assert!(world.store.versions(None).await.unwrap().is_empty());
    drop(held);
    crate::support::joined(starting).await.unwrap();
    assert_eq!(world.store.versions(None).await.unwrap().len(), 1);
    soon(world.runtime().drain()).await;
}
