//! What is asked for in a transaction of the caller's own counts with it, or not at all.

use crate::{node, server, support::*};
use lockwork::store::postgres::within;
use lockwork::{
    runtime::store::{ErrandKind, ErrandStore},
    workflow::{Create, DefinitionHandle, Run, Time},
};
use sqlx::PgPool;

const END: Time = Time::from_millis(i64::MAX - 1);

#[tokio::test]
async fn it_is_done_if_the_transaction_is_committed_and_never_if_it_is_not() {
    let server = server(&[]);
    let store = node(&server).await;
    let pool = PgPool::connect(&server.url()).await.unwrap();
    server
        .sql("CREATE TABLE orders (id int PRIMARY KEY)")
        .unwrap();
    for (id, commits) in [(1, true), (2, false)] {
        let mut own = pool.begin().await.unwrap();
        sqlx::query("INSERT INTO orders VALUES ($1)")
            .bind(id)
            .execute(&mut *own)
            .await
            .unwrap();
        let create = Create::new(DefinitionHandle::Version(version("w:1")));
        let started = instance(&format!("order-{id}"));
        within(&mut own, &store).send(event("Paid")).await.unwrap();
        within(&mut own, &store)
            .start(started, create, Run::default())
            .await
            .unwrap();
        within(&mut own, &store)
            .add(vec![errand(&format!("own-{id}"), "x", NOW)])
            .await
            .unwrap();
        let before = store.take(END, END, 9).await.unwrap();
        assert_eq!(before.len(), if id == 1 { 0 } else { 3 }, "not yet");
        match commits {
            true => own.commit().await.unwrap(),
            false => own.rollback().await.unwrap(),
        }
    }
    assert_eq!(server.sql("SELECT id FROM orders").unwrap().trim(), "1");
    let mut taken = store.take(END, END, 9).await.unwrap();
    taken.sort_by_key(|held| held.errand.id.clone());
    let [own, send, start] = <[_; 3]>::try_from(taken).unwrap();
    assert_eq!(own.errand.id, "own-1");
    assert_eq!(send.errand.kind, ErrandKind::Send(event("Paid")));
    assert_eq!(start.errand.id, "start/order-1");
}

#[tokio::test]
async fn the_transaction_may_be_of_any_isolation() {
    let server = server(&[]);
    let store = node(&server).await;
    let pool = PgPool::connect(&server.url()).await.unwrap();
    let mut own = pool.begin().await.unwrap();
    sqlx::query("SET TRANSACTION ISOLATION LEVEL SERIALIZABLE")
        .execute(&mut *own)
        .await
        .unwrap();
    within(&mut own, &store).send(event("Paid")).await.unwrap();
    own.commit().await.unwrap();
    assert_eq!(store.take(END, END, 9).await.unwrap().len(), 1);
}
