//! What is asked for inside of the caller's own transaction counts with it, or not at all.

use crate::support::{Place, at, errand, instance, sending, soon, stimulus, suspend};
use lockwork_core::workflow::{Create, DefinitionHandle, Run, VersionId};
use lockwork_runtime::store::{ErrandKind, ErrandStore, StimulusStore};
use lockwork_store::sqlite::within;
use sqlx::{Connection, Executor, SqliteConnection};

async fn orders(place: &Place) -> SqliteConnection {
    let mut own = place.connection().await;
    own.execute("CREATE TABLE orders (id TEXT)").await.unwrap();
    own
}

async fn order(own: &mut SqliteConnection) {
    own.execute("INSERT INTO orders VALUES ('o')")
        .await
        .unwrap();
}

async fn count(own: &mut SqliteConnection) -> i64 {
    let count = sqlx::query_scalar("SELECT count(*) FROM orders");
    count.fetch_one(own).await.unwrap()
}

fn create_one() -> Create {
    Create::new(DefinitionHandle::Version(VersionId::new("w:1").unwrap()))
}

#[tokio::test]
async fn what_is_asked_for_counts_with_the_callers_own_rows() {
    let place = Place::new();
    let store = place.open().await;
    suspend(&store, "a", "Go").await;
    let mut own = orders(&place).await;
    let mut transaction = own.begin().await.unwrap();
    order(&mut transaction).await;
    let started = within(&mut transaction).at(at(5));
    soon(started.start(instance("b"), create_one(), Run::default()))
        .await
        .unwrap();
    soon(within(&mut transaction).at(at(5)).send(stimulus("Go")))
        .await
        .unwrap();
    soon(within(&mut transaction).add(vec![errand("e")]))
        .await
        .unwrap();
    soon(transaction.commit()).await.unwrap();
    assert_eq!(count(&mut own).await, 1);
    let taken = soon(store.take(at(9), at(20), 10)).await.unwrap();
    let mut kinds: Vec<_> = taken
        .iter()
        .map(|held| match &held.errand.kind {
            ErrandKind::Start { .. } => "start",
            ErrandKind::Deliver { .. } => "deliver",
            ErrandKind::Send(_) => "send",
            _ => "other",
        })
        .collect();
    kinds.sort_unstable();
    assert_eq!(kinds, ["deliver", "send", "start"]);
}

#[tokio::test]
async fn what_is_rolled_back_was_never_asked_for() {
    let place = Place::new();
    let store = place.open().await;
    suspend(&store, "a", "Go").await;
    let mut own = orders(&place).await;
    let mut transaction = own.begin().await.unwrap();
    order(&mut transaction).await;
    let started = within(&mut transaction);
    soon(started.start(instance("b"), create_one(), Run::default()))
        .await
        .unwrap();
    soon(within(&mut transaction).send(stimulus("Go")))
        .await
        .unwrap();
    soon(within(&mut transaction).send(stimulus("Nobody")))
        .await
        .unwrap();
    soon(transaction.rollback()).await.unwrap();
    assert_eq!(count(&mut own).await, 0);
    assert!(
        soon(store.take(at(i64::MAX), at(i64::MAX), 10))
            .await
            .unwrap()
            .is_empty()
    );
    assert!(soon(store.waiting()).await.unwrap().is_empty());
    // The bookmark is still free.
    let sent = soon(store.send(sending("s", stimulus("Go"))))
        .await
        .unwrap();
    assert!(!sent.queued);
}

#[tokio::test]
async fn an_instance_that_is_asked_for_twice_is_one() {
    let place = Place::new();
    let store = place.open().await;
    let mut own = place.connection().await;
    for _ in 0..2 {
        let started = within(&mut own).start(instance("b"), create_one(), Run::default());
        soon(started).await.unwrap();
    }
    assert_eq!(
        soon(store.take(at(i64::MAX), at(i64::MAX), 10))
            .await
            .unwrap()
            .len(),
        1
    );
}
