//! Servers and clients that stand still, as in a machine that is suspended.

use crate::{LEASE, SOON, client, server, taker, within, works};
use lockwork::{Instant, Loss};
use lockwork_conformance::generous;
use std::time::Duration;

#[tokio::test]
async fn a_frozen_server_is_not_waited_for_and_works_again_once_it_thaws() {
    let server = server();
    let (here, there) = (client(server.port()).await, client(server.port()).await);
    let guard = here.mutex("x").lock().await.unwrap();
    server.freeze().unwrap();
    let frozen = Instant::now();
    let loss = within(LEASE, "the loss is told", guard.lost()).await;
    assert_eq!(loss, Loss::Expired);
    let off = frozen.elapsed();
    assert!(!guard.is_valid());
    assert!(off < generous(LEASE), "too late: {off:?}");
    tokio::time::sleep((frozen + LEASE * 3 / 2).remaining()).await;
    server.thaw();
    let thawed = Instant::now();
    let next = within(SOON, "the next one gets in", there.mutex("x").lock()).await;
    let next = next.unwrap();
    println!(
        "frozen: off after {off:?}; thawed: the next one in after {:?}",
        thawed.elapsed()
    );
    assert!(next.token() > guard.token());
    next.release().await.unwrap();
    works(&here, "x").await;
    drop(guard);
    works(&there, "x").await;
}

#[tokio::test]
async fn a_frozen_holder_wakes_to_an_invalid_guard_and_the_next_one_came_in() {
    let server = server();
    let here = client(server.port()).await;
    let mut other = taker(&server).await;
    let theirs = within(SOON, "they hold it", other.lock("x")).await;
    other.watch(Duration::from_millis(500)).await;
    let frozen = Instant::now();
    other.freeze();
    let guard = within(
        LEASE + Duration::from_millis(500),
        "the next one gets in",
        here.mutex("x").lock(),
    )
    .await
    .unwrap();
    println!(
        "a frozen holder was replaced after {:?} (lease {LEASE:?})",
        frozen.elapsed()
    );
    assert!(guard.token() > theirs);
    other.thaw();
    let (valid, lost) = within(SOON, "they look", other.look_after_gap()).await;
    assert!(!valid && lost, "valid {valid}, told {lost}");
    assert!(guard.is_valid(), "what they do late is not ours to feel");
    let holders = here.mutex("x").holders().await.unwrap().holders;
    assert_eq!(holders.len(), 1);
    assert_eq!(holders[0].token, guard.token());
}
