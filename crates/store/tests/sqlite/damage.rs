//! Rows that somebody has damaged: a sentence for whoever needs them, and nothing for the others.

use crate::support::{
    Place, at, bookmark, claim, commit, create, errand, instance, kind, sending, soon, stimulus,
    suspend,
};
use lockwork_core::workflow::{ErrorKind, NodeId};
use lockwork_flow::{Schedule, build};
use lockwork_runtime::store::{
    DefinitionStore, ErrandStore, Filter, InstanceStore, NewVersion, StimulusStore, TriggerRow,
};
use sqlx::Executor;
use std::time::Duration;

#[tokio::test]
async fn a_damaged_instance_is_named_and_the_others_go_on() {
    let place = Place::new();
    let store = place.open().await;
    create(&store, "a").await;
    create(&store, "b").await;
    let damage = "UPDATE lockwork_instances SET state = '{\"format\":1,' WHERE id = 'a'";
    place.connection().await.execute(damage).await.unwrap();
    let error = soon(store.claim(&instance("a"), "me")).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unexpected);
    let text = error.to_string();
    assert!(
        text.contains("damaged") && text.contains("id=a") || text.contains("id: a"),
        "{text}"
    );
    assert_eq!(
        kind(soon(store.load(&instance("a"))).await),
        ErrorKind::Unexpected
    );
    assert_eq!(
        kind(soon(store.list(Filter::default())).await),
        ErrorKind::Unexpected
    );
    suspend(&store, "c", "Go").await;
    assert!(soon(store.load(&instance("b"))).await.unwrap().is_some());
    assert!(soon(store.delete(&instance("a"))).await.unwrap());
    assert_eq!(soon(store.list(Filter::default())).await.unwrap().len(), 2);
}

#[tokio::test]
async fn a_state_of_a_newer_version_is_refused_with_advice() {
    let place = Place::new();
    let store = place.open().await;
    create(&store, "a").await;
    let newer = "UPDATE lockwork_instances SET state = json_set(state, '$.format', 99)";
    place.connection().await.execute(newer).await.unwrap();
    let answer = soon(store.claim(&instance("a"), "me")).await;
    assert_eq!(kind(answer), ErrorKind::Unsupported);
}

#[tokio::test]
async fn a_row_with_the_wrong_type_is_an_error_and_no_panic() {
    let place = Place::new();
    let store = place.open().await;
    create(&store, "a").await;
    let damage = "UPDATE lockwork_instances SET state = x'ff00fe'";
    place.connection().await.execute(damage).await.unwrap();
    assert_eq!(
        kind(soon(store.load(&instance("a"))).await),
        ErrorKind::Unexpected
    );
}

#[tokio::test]
async fn a_damaged_errand_keeps_nobody_from_the_others() {
    let place = Place::new();
    let store = place.open().await;
    soon(store.add(vec![errand("a"), errand("b")]))
        .await
        .unwrap();
    let damage = "UPDATE lockwork_errands SET kind = '{}' WHERE id = 'a'";
    place.connection().await.execute(damage).await.unwrap();
    let taken = soon(store.take(at(0), at(10), 10)).await.unwrap();
    let taken: Vec<_> = taken.iter().map(|held| held.errand.id.as_str()).collect();
    assert_eq!(taken, ["b"]);
}

#[tokio::test]
async fn a_damaged_stimulus_leaves_the_commit_that_needs_it_undone() {
    let place = Place::new();
    let store = place.open().await;
    soon(store.send(sending("s", stimulus("Go"))))
        .await
        .unwrap();
    let damage = "UPDATE lockwork_waiting SET stimulus = 'no'";
    place.connection().await.execute(damage).await.unwrap();
    create(&store, "a").await;
    let claimed = claim(&store, "a").await;
    let wait = commit(claimed, vec![bookmark("a:1", "Go")]);
    assert_eq!(kind(soon(store.commit(wait)).await), ErrorKind::Unexpected);
    let record = soon(store.load(&instance("a"))).await.unwrap().unwrap();
    assert_eq!((record.version, record.state.bookmarks.len()), (0, 0));
    assert!(
        soon(store.journal(&instance("a"), 0))
            .await
            .unwrap()
            .is_empty()
    );
}

#[tokio::test]
async fn a_damaged_schedule_or_timer_keeps_nobody_from_the_others() {
    let place = Place::new();
    let store = place.open().await;
    for id in ["good", "bad"] {
        soon(store.put(scheduled(id))).await.unwrap();
    }
    create(&store, "a").await;
    let mut timed = bookmark("a:1", "Go");
    timed.due = Some(at(5));
    let claimed = claim(&store, "a").await;
    soon(store.commit(commit(claimed, vec![timed])))
        .await
        .unwrap();
    for damage in [
        "UPDATE lockwork_triggers SET schedule = '{' WHERE definition_id = 'bad'",
        "UPDATE lockwork_bookmarks SET instance = ''",
    ] {
        let mut connection = place.connection().await;
        connection
            .execute("PRAGMA foreign_keys = off")
            .await
            .unwrap();
        connection.execute(damage).await.unwrap();
    }
    soon(store.fire(at(20), 9)).await.unwrap();
    let taken = soon(store.take(at(20), at(99), 9)).await.unwrap();
    assert_eq!(taken.len(), 1, "the good one: {taken:?}");
    assert_eq!(soon(store.fire(at(20), 9)).await.unwrap(), 0, "once");
}

/// A workflow that is started every ten milliseconds.
fn scheduled(id: &str) -> NewVersion {
    let definition = build::workflow(id).root(build::log("log", "hello"));
    let trigger = TriggerRow {
        node: NodeId::new("timer").unwrap(),
        hash: stimulus("Timer").hash,
        schedule: Some(Schedule::Every(Duration::from_millis(10).into())),
        next: Some(at(10)),
    };
    NewVersion {
        definition: definition.build().unwrap(),
        publish: true,
        triggers: vec![trigger],
        now: at(0),
    }
}
