//! Answers that are lost on the way.

use crate::{LEASE, SOON, ends, key, keys, left, options, server, until, until_renewed, within};
use lockwork::{
    Backend, Deadline, ErrorKind, Hold, Locks, Mode, Name, Request, layers::Retry, redis::Redis,
};
use lockwork_conformance::Proxy;
use std::time::{Duration, Instant};

/// A try for the mutex `name`, by a new owner.
fn request(name: &str) -> Request {
    Request::new(Name::new(name).unwrap(), Mode::Exclusive, Deadline::Now)
}

/// A node whose answers can be lost, and whose connections are open.
async fn behind(port: u16) -> (Redis, Proxy) {
    let proxy = Proxy::start(port).await.unwrap();
    let node = options(proxy.port()).lease(SOON).connect().await.unwrap();
    let warm = node.acquire(request("warm")).await.unwrap().unwrap();
    warm.release().await.unwrap();
    (node, proxy)
}

#[tokio::test]
async fn a_lost_answer_is_asked_for_again_and_leaves_nothing() {
    let server = server();
    let (node, proxy) = behind(server.port()).await;
    for number in 0..5 {
        let name = format!("x{number}");
        proxy.lose_replies(1);
        let request = request(&name);
        let held = node.acquire(request.clone()).await.unwrap().expect("free");
        assert_eq!(proxy.left_to_lose(), 0, "no answer was lost");
        assert_eq!(left(&server), [key(&name)]);
        held.release().await.unwrap();
        assert!(left(&server).is_empty(), "{:?}", left(&server));
        assert!(keys(&server).iter().any(|key| key.contains("}:d:")));
        // Should the first question only arrive now, nobody would ever give it back.
        let late = node.acquire(request).await;
        assert!(late.is_err(), "granted to one who has released: {late:?}");
        let next = node.acquire(self::request(&name)).await;
        next.unwrap().expect("free").release().await.unwrap();
    }
    assert!(left(&server).is_empty(), "{:?}", left(&server));
}

#[tokio::test]
async fn a_lost_answer_to_a_release_is_asked_for_again() {
    let server = server();
    let (node, proxy) = behind(server.port()).await;
    for _ in 0..5 {
        let held = node.acquire(request("x")).await.unwrap().expect("free");
        proxy.lose_replies(1);
        held.release().await.unwrap();
        assert_eq!(proxy.left_to_lose(), 0, "no answer was lost");
        assert!(left(&server).is_empty(), "{:?}", left(&server));
    }
}

#[tokio::test]
async fn a_grant_that_nobody_heard_of_is_given_back() {
    let server = server();
    let (node, proxy) = behind(server.port()).await;
    let locks = Locks::with_tenure(node, Duration::ZERO);
    proxy.drop_replies();
    let start = Instant::now();
    let limit = Duration::from_millis(300);
    let refused = within(SOON, "an answer", locks.mutex("x").try_lock_for(limit)).await;
    assert_eq!(refused.unwrap_err().kind(), ErrorKind::Unavailable);
    println!("a lost reply was given up after {:?}", start.elapsed());
    assert_eq!(left(&server), [key("x")], "granted, and nobody knows");
    proxy.heal();
    proxy.reset();
    until(LEASE * 2, "it is given back", || left(&server).is_empty()).await;
    crate::works(&locks, "x").await;
}

#[tokio::test]
async fn who_tries_again_after_an_error_is_the_same_owner_and_not_refused() {
    let server = server();
    let (node, proxy) = behind(server.port()).await;
    let locks = Locks::with_tenure(node, Duration::ZERO).layer(Retry::new());
    for _ in 0..3 {
        // The answer, and the first one on the connection that comes after.
        proxy.lose_replies(2);
        let guard = within(SOON, "a lock", locks.mutex("x").lock()).await;
        assert_eq!(proxy.left_to_lose(), 0, "no answer was lost");
        assert_eq!(left(&server), [key("x")]);
        guard.unwrap().release().await.unwrap();
        assert!(left(&server).is_empty(), "{:?}", left(&server));
    }
}

#[tokio::test]
async fn a_renewal_whose_answer_was_lost_is_asked_for_again() {
    let server = server();
    let proxy = Proxy::start(server.port()).await.unwrap();
    let locks = crate::client(proxy.port()).await;
    let guard = locks.mutex("x").lock().await.unwrap();
    for _ in 0..4 {
        proxy.lose_replies(1);
        until(LEASE, "an answer is lost", || proxy.left_to_lose() == 0).await;
    }
    let guards = [guard];
    until_renewed(LEASE, &guards, &ends(&guards)).await;
    assert!(guards[0].is_valid());
}
