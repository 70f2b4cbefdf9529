//! A node hears that another one has added work.

use crate::{SOON, node, server, support::*};
use lockwork::runtime::store::{ErrandStore, InstanceStore};
use lockwork_conformance::{generous, within};
use std::time::{Duration, Instant};
use tokio::time::timeout;

const TIMES: usize = 20;

/// Ends when `hears` listens: what rang before is not known.
async fn is_listening(tells: &impl ErrandStore, hears: &impl ErrandStore) {
    for number in 0.. {
        let rung = hears.rung();
        tells
            .add(vec![errand(&format!("first-{number}"), "a", NOW)])
            .await
            .unwrap();
        if timeout(Duration::from_secs(1), rung).await.is_ok() {
            return;
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn another_node_hears_within_100_ms_that_there_is_something_to_do() {
    let server = server(&[]);
    let (one, other) = (node(&server).await, node(&server).await);
    within(SOON, "the other listens", is_listening(&one, &other)).await;
    one.create(new("a")).await.unwrap();
    let mut worst = Duration::ZERO;
    for number in 0..TIMES {
        // What is told again within ten milliseconds is told once.
        tokio::time::sleep(Duration::from_millis(30)).await;
        let rung = other.rung();
        let mut commit = nothing(&one.claim(&instance("a"), "c").await.unwrap().unwrap());
        commit.errands.push(errand(&format!("e{number}"), "a", NOW));
        one.commit(commit).await.unwrap();
        let committed = Instant::now();
        within(SOON, "it rings", rung).await;
        worst = worst.max(committed.elapsed());
    }
    println!("{TIMES} of {TIMES} heard, the slowest after {worst:?}");
    assert!(
        worst < generous(Duration::from_millis(100)),
        "too late: {worst:?}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_node_listens_again_after_its_server_was_away() {
    let server = server(&[]);
    let (one, other) = (node(&server).await, node(&server).await);
    within(SOON, "the other listens", is_listening(&one, &other)).await;
    server.restart().unwrap();
    within(SOON, "the other listens again", async {
        while one.next_due().await.is_err() {}
        is_listening(&one, &other).await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_nobody_else_can_take_rings_for_nobody() {
    let server = server(&[]);
    let (one, other) = (node(&server).await, node(&server).await);
    within(SOON, "the other listens", is_listening(&one, &other)).await;
    tokio::time::sleep(Duration::from_millis(100)).await;
    let rung = other.rung();
    one.create(new("a")).await.unwrap();
    let claimed = one.claim(&instance("a"), "c").await.unwrap().unwrap();
    one.commit(nothing(&claimed)).await.unwrap();
    assert!(timeout(Duration::from_millis(300), rung).await.is_err());
}
