//! What the server is told and tells: who we are, and when to come.

use crate::{SOON, client, connections, server, within};
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
    assert!(
        taken[UPGRADES - 1] < Duration::from_millis(300),
        "{taken:?}"
    );
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
