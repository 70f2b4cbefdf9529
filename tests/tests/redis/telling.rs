//! What the server is told and tells: who we are, and when to come.

use crate::{SOON, client, connections, server, within};
use lockwork_conformance::Proxy;
use std::time::{Duration, Instant};

const UPGRADES: usize = 8;

#[tokio::test]
async fn who_waits_to_write_is_told_when_the_last_reader_leaves() {
    let server = server();
    let (here, there) = (client(server.port()).await, client(server.port()).await);
    let (mut readers, mut waiting) = (Vec::new(), Vec::new());
    for number in 0..UPGRADES {
        let name = number.to_string();
        readers.push(here.rw_lock(&name).read().await.unwrap());
        let mut guard = there.rw_lock(&name).upgradeable_read().await.unwrap();
        waiting.push(tokio::spawn(async move {
            guard.upgrade().await.unwrap();
            (guard, Instant::now())
        }));
    }
    // Until they ask by themselves as seldom as they ever will.
    tokio::time::sleep(Duration::from_secs(2)).await;
    let mut taken = Vec::new();
    for (reader, waiting) in readers.into_iter().zip(waiting) {
        let left = Instant::now();
        reader.release().await.unwrap();
        let (_guard, when) = within(SOON, "the upgrade", waiting).await.unwrap();
        taken.push(when.saturating_duration_since(left));
    }
    taken.sort_unstable();
    println!("upgraded after the last reader had left: {taken:?}");
    // Who is not told asks 900 ms later at most, and half of that on average.
    assert!(
        taken[UPGRADES / 2] < Duration::from_millis(40),
        "too late: {taken:?}"
    );
    assert!(
        taken[UPGRADES - 1] < Duration::from_millis(300),
        "too late: {taken:?}"
    );
}

#[tokio::test]
async fn who_came_too_late_for_its_turn_is_told_of_the_next() {
    let server = server();
    let proxy = Proxy::start(server.port()).await.unwrap();
    let (here, slow) = (client(server.port()).await, client(proxy.port()).await);
    let writer = here.rw_lock("x").write().await.unwrap();
    let reading = tokio::spawn({
        let lock = slow.rw_lock("x");
        async move { (lock.read().await.unwrap(), Instant::now()) }
    });
    let waits = async |count| {
        while here.rw_lock("x").holders().await.unwrap().waiting.len() != count {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    within(SOON, "it waits", waits(1)).await;
    let there = client(server.port()).await;
    let upgrading = tokio::spawn({
        let lock = there.rw_lock("x");
        async move {
            let mut guard = lock.upgradeable_read().await.unwrap();
            guard.upgrade().await.unwrap();
            guard
        }
    });
    within(SOON, "both wait", waits(2)).await;
    // Both may come in now; the reader comes when the other one writes already.
    proxy.delay(Duration::from_millis(50));
    writer.release().await.unwrap();
    let upgraded = within(SOON, "the upgrade", upgrading).await.unwrap();
    tokio::time::sleep(Duration::from_millis(300)).await;
    assert!(!reading.is_finished(), "a reader beside a writer");
    let left = Instant::now();
    upgraded.release().await.unwrap();
    let (_guard, when) = within(SOON, "the reader gets in", reading).await.unwrap();
    let took = when - left;
    println!("told of the next turn: {took:?}");
    // A message and its answer, and the news before it; who is not told asks 900 ms later.
    assert!(took < Duration::from_millis(400), "too late: {took:?}");
}

#[tokio::test]
async fn the_server_knows_our_connections_by_host_and_process() {
    let server = server();
    let locks = client(server.port()).await;
    let _guard = locks.mutex("x").lock().await.unwrap();
    let connections = connections(&server);
    println!("{connections:?}");
    assert_eq!(connections.len(), 2);
    let end = format!("/{}", std::process::id());
    for name in &connections {
        assert!(name.starts_with("lockwork/") && name.ends_with(&end));
        assert_eq!(name.split('/').count(), 3, "{name}");
    }
}
