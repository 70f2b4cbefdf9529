//! Connections that end around a commit: before the server has heard of it, while it hears, after it has answered.

use crate::{
    asked,
    counters::{self, agree_with_their_journals, one, until_told},
    left::until_nothing_is_left,
};
use lockwork::{runtime::LocalRuntime, workflow::InstanceId};
use lockwork_conformance::{Proxy, proxy::Cut, within};
use lockwork_servers::{Postgres, Settings};
use std::{sync::Arc, time::Duration};
use tokio::{sync::Semaphore, task::JoinSet};

/// What stands in a commit, and in nothing else.
const COMMIT: &str = "store_commit_";

const COUNTERS: usize = 50;
const AT_ONCE: usize = 16;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_connection_that_is_cut_around_a_commit_loses_and_doubles_nothing() {
    let cuts = usize::try_from(asked("LOCKWORK_CUTS", 500)).unwrap();
    let server = Postgres::start(Settings::new()).unwrap();
    let proxy = Proxy::start(server.port()).await.unwrap();
    let plain = format!("{}?sslmode=disable", server.url());
    let direct = lockwork::store::connect(&plain).await.unwrap();
    let counters = counters::new(&counters::node(direct.clone()), COUNTERS).await;
    let ways = [Cut::Before, Cut::After, Cut::During];
    proxy.cut(COMMIT, ways.into_iter().cycle().take(cuts));
    let url = format!(
        "{}?sslmode=disable",
        server.url_at("127.0.0.1", proxy.port())
    );
    let node = counters::node(lockwork::store::connect(&url).await.unwrap());
    node.start().await.unwrap();
    let limit = Duration::from_secs(120);
    within(limit, "everybody was told", tell(&node, &counters, cuts)).await;
    within(limit, "everything has arrived", async {
        while counters::sum(&*direct, &counters).await.unwrap() < cuts as u64 {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    })
    .await;
    until_nothing_is_left(&*direct).await;
    node.drain().await;
    println!("{} connections were cut around a commit", proxy.cuts_made());
    assert_eq!(proxy.cuts_made(), cuts);
    assert_eq!(
        counters::sum(&*direct, &counters).await.unwrap(),
        cuts as u64
    );
    agree_with_their_journals(&*direct, &counters).await;
}

/// Adds one so often, some at a time.
async fn tell(node: &LocalRuntime, counters: &[InstanceId], count: usize) {
    let (mut tasks, room) = (JoinSet::new(), Arc::new(Semaphore::new(AT_ONCE)));
    for number in 0..count {
        let permit = Arc::clone(&room).acquire_owned().await.unwrap();
        let (node, add) = (
            node.clone(),
            one(&counters[number % counters.len()], format!("add {number}")),
        );
        tasks.spawn(async move {
            let _permit = permit;
            until_told(&node, add).await;
        });
    }
    tasks.join_all().await;
}
