//! A server that goes away and comes back.

use crate::{SOON, node, server, support::*};
use lockwork::{
    runtime::store::{ErrandStore, InstanceStore},
    workflow::ErrorKind::Unavailable,
};
use lockwork_conformance::within;
use std::time::Instant;

#[tokio::test(flavor = "multi_thread")]
async fn a_store_is_out_of_reach_while_its_server_is_and_no_longer() {
    let server = server(&[]);
    let store = node(&server).await;
    store.create(new("a")).await.unwrap();
    for _ in 0..3 {
        server.stop().unwrap();
        for _ in 0..3 {
            let asked = within(SOON, "an answer", store.load(&instance("a"))).await;
            assert_eq!(kind(asked), Unavailable);
        }
        server.restart().unwrap();
        let back = Instant::now();
        let found = within(SOON, "an answer", store.load(&instance("a"))).await;
        assert!(found.unwrap().is_some());
        println!("back after {:?}", back.elapsed());
        store.add(vec![errand("e", "a", NOW)]).await.unwrap();
    }
    assert_eq!(store.take(NOW, later(9), 9).await.unwrap().len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_does_not_answer_is_given_up_in_time() {
    let server = server(&[]);
    let url = format!("{}?deadline=1s", server.url());
    let store = lockwork::store::connect(&url).await.unwrap();
    // Whoever has no deadline is not late on a busy machine.
    let patient = node(&server).await;
    patient.create(new("a")).await.unwrap();
    server.freeze().unwrap();
    let began = Instant::now();
    let asked = within(SOON, "an answer", store.load(&instance("a"))).await;
    let took = began.elapsed();
    server.thaw();
    assert_eq!(kind(asked), Unavailable);
    println!("given up after {took:?} (deadline 1 s)");
    let answered = async {
        loop {
            match store.load(&instance("a")).await {
                Err(error) => assert_eq!(error.kind(), Unavailable, "{error}"),
                Ok(found) => return found,
            }
        }
    };
    assert!(within(SOON, "an answer", answered).await.is_some());
}

#[tokio::test(flavor = "multi_thread")]
async fn what_holds_a_statement_up_for_too_long_is_told_and_nothing_was_done() {
    let server = server(&[]);
    let url = format!("{}?deadline=1s", server.url());
    let store = lockwork::store::connect(&url).await.unwrap();
    // Whoever has no deadline is not late on a busy machine.
    let patient = node(&server).await;
    patient.create(new("a")).await.unwrap();
    let mut other = sqlx::PgPool::connect(&server.url())
        .await
        .unwrap()
        .begin()
        .await
        .unwrap();
    let lock = "SELECT FROM lockwork.instance FOR UPDATE";
    sqlx::query(lock).execute(&mut *other).await.unwrap();
    let asked = within(SOON, "an answer", store.claim(&instance("a"), "late")).await;
    assert_eq!(kind(asked), Unavailable);
    other.rollback().await.unwrap();
    let claimed = patient
        .claim(&instance("a"), "in time")
        .await
        .unwrap()
        .unwrap();
    assert_eq!(
        claimed.claim.epoch, 1,
        "the first claim was not carried out later"
    );
}
