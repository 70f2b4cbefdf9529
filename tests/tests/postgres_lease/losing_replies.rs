//! Answers that are lost on the way, and connections that end.

use crate::{LONG, ROWS, database, node, request};
use lockwork::{Backend, Hold, Locks, postgres::PostgresLeases};
use lockwork_conformance::{Proxy, backends::postgres_lease::Database};
use std::time::Duration;

const HELD: &str = "SELECT count(*) FROM lockwork.lease WHERE mode <> 0";

#[tokio::test]
async fn who_asks_again_as_the_same_owner_finds_its_own_grant() {
    let database = database();
    let (one, two) = (node(&database, LONG).await, node(&database, LONG).await);
    let request = request("x");
    let first = one.acquire(request.clone()).await.unwrap().expect("free");
    let again = one
        .acquire(request.clone())
        .await
        .unwrap()
        .expect("its own");
    let elsewhere = two.acquire(request).await.unwrap().expect("its own");
    assert_eq!(first.token(), again.token());
    assert_eq!(first.token(), elsewhere.token());
    assert!(two.acquire(crate::request("x")).await.unwrap().is_none());
    assert_eq!(database.number(ROWS), 1);
    first.release().await.unwrap();
    assert_eq!(database.number(ROWS), 0);
    let next = two.acquire(crate::request("x")).await.unwrap();
    let next = next.expect("free after one release");
    // What others of that owner give back is not the next one's.
    again.release().await.unwrap();
    elsewhere.release().await.unwrap();
    assert!(one.acquire(crate::request("x")).await.unwrap().is_none());
    next.release().await.unwrap();
}

/// A node whose answers can be lost.
async fn behind_a_proxy(database: &Database) -> (PostgresLeases, Proxy) {
    let server = database.through();
    let proxy = Proxy::start(server.get_port()).await.unwrap();
    let through = server.host("127.0.0.1").port(proxy.port());
    let options = lockwork::postgres::Options::new(through);
    (options.connect_leases().await.unwrap(), proxy)
}

#[tokio::test]
async fn a_lost_answer_is_asked_for_again_and_leaves_nothing() {
    let database = database();
    let (node, proxy) = behind_a_proxy(&database).await;
    // A connection that is open, so that the next answer is about a lock.
    let warm = node.acquire(request("warm")).await.unwrap().unwrap();
    warm.release().await.unwrap();
    for number in 0..5 {
        proxy.lose_replies(1);
        let request = request(&format!("x{number}"));
        let held = node.acquire(request.clone()).await.unwrap().expect("free");
        assert_eq!(proxy.left_to_lose(), 0, "no answer was lost");
        assert_eq!(database.number(HELD), 1);
        held.release().await.unwrap();
        assert_eq!(database.number(HELD), 0);
        // Should the first question only arrive now, nobody would ever give it back.
        let late = node.acquire(request).await;
        assert!(late.is_err(), "granted to one who has released: {late:?}");
        let next = node.acquire(crate::request(&format!("x{number}"))).await;
        next.unwrap().expect("free").release().await.unwrap();
    }
    assert_eq!(database.number(HELD), 0);
}

#[tokio::test]
async fn a_lost_answer_to_a_release_is_asked_for_again() {
    let database = database();
    let (node, proxy) = behind_a_proxy(&database).await;
    for _ in 0..5 {
        let held = node.acquire(request("x")).await.unwrap().expect("free");
        proxy.lose_replies(1);
        held.release().await.unwrap();
        assert_eq!(proxy.left_to_lose(), 0, "no answer was lost");
        assert_eq!(database.number(ROWS), 0);
    }
}

#[tokio::test]
async fn connections_that_the_server_ends_cost_no_lock() {
    let database = database();
    let locks = Locks::new(node(&database, Duration::from_secs(4)).await);
    let guard = locks.mutex("x").lock().await.unwrap();
    for _ in 0..6 {
        database.run(
            "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity \
             WHERE datname = current_database() AND pid <> pg_backend_pid()",
        );
        drop(locks.mutex("y").lock().await.unwrap());
        tokio::time::sleep(Duration::from_millis(800)).await;
        assert!(guard.is_valid(), "{:?}", guard.lost().get());
    }
    guard.release().await.unwrap();
}
