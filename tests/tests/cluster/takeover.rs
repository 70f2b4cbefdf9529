//! How long it takes until others go on with what a killed node had in hand, and what a frozen one does afterwards.

use crate::{locks::LockServer, run::url};
use lockwork::{
    runtime::Store,
    workflow::{DefinitionId, InstanceId, SubStatus, Values},
};
use lockwork_conformance::{
    generous, within,
    workflows::{Node, Order, journals},
};
use lockwork_servers::{Postgres, Settings};
use std::{
    path::Path,
    time::{Duration, Instant},
};
use tempfile::TempDir;
use tokio::time::sleep;

/// What nodes ask for unless they are told otherwise.
const LEASE: Duration = Duration::from_secs(6);

const INSTANCES: usize = 20;

/// How long a step takes on a node that is called `naps`.
const NAP: Duration = Duration::from_secs(10);

/// Longer than anything here takes.
const LIMIT: Duration = Duration::from_secs(60);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_killed_node_had_in_hand_goes_on_within_ten_seconds_by_locks_in_redis() {
    takes_over(LockServer::redis().await).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_killed_node_had_in_hand_goes_on_within_ten_seconds_by_locks_in_postgres() {
    takes_over(LockServer::postgres().await).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_killed_node_had_in_hand_goes_on_within_ten_seconds_by_locks_in_sqlserver() {
    takes_over(LockServer::sqlserver().await).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_killed_node_had_in_hand_goes_on_within_ten_seconds_by_locks_in_files() {
    takes_over(LockServer::file().await).await;
}

/// Its leases are of 15 s at least.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_killed_node_had_in_hand_goes_on_two_seconds_after_a_lease_in_azure() {
    takes_over(LockServer::azure().await).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_that_was_frozen_in_a_step_begins_none_of_what_others_went_on_with() {
    let (server, place, witness) = places(LockServer::redis().await);
    let store = lockwork::store::connect(&url(&place)).await.unwrap();
    let node = |name| node(name, Duration::from_secs(2), &server, &place, &witness);
    let (mut naps, _goes) = (node("naps").await, node("goes").await);
    for number in 0..INSTANCES {
        naps.tell(&create(number)).await;
    }
    until_all_are(&*store, SubStatus::Executing).await;
    naps.freeze();
    let over = tokio::time::Instant::now() + NAP;
    until_all_are(&*store, SubStatus::Finished).await;
    // Its steps are over before it learns anything: time went on for it.
    tokio::time::sleep_until(over).await;
    naps.thaw();
    for _ in 0..INSTANCES {
        let answer = within(LIMIT, "it gives up", naps.answer()).await;
        let answer = answer.expect("nobody killed it");
        assert!(answer.error.is_some(), "it was another one's by then");
    }
    done_once(&*store, &witness).await;
}

async fn takes_over(server: LockServer) {
    let (server, place, witness) = places(server);
    let store = lockwork::store::connect(&url(&place)).await.unwrap();
    let node = |name| node(name, LEASE, &server, &place, &witness);
    let (mut stays, _goes) = (node("stays").await, node("goes").await);
    for number in 0..INSTANCES {
        stays.tell(&create(number)).await;
    }
    until_all_are(&*store, SubStatus::Executing).await;
    stays.kill().await;
    let killed = Instant::now();
    until_all_are(&*store, SubStatus::Finished).await;
    let lease = server.lease(LEASE);
    let (took, limit) = (killed.elapsed(), lease + Duration::from_secs(2));
    let limit = generous(limit.max(Duration::from_secs(10)));
    println!(
        "{}: another node had gone on with {INSTANCES} instances {took:.1?} after theirs was killed, at most {limit:.1?}",
        server.name()
    );
    assert!(took <= limit, "too late: {took:?}");
    done_once(&*store, &witness).await;
}

fn places(server: LockServer) -> (LockServer, Postgres, TempDir) {
    let place = Postgres::start(Settings::new()).unwrap();
    (server, place, tempfile::tempdir().unwrap())
}

async fn node(
    name: &str,
    lease: Duration,
    server: &LockServer,
    place: &Postgres,
    witness: &TempDir,
) -> Node {
    let (store, locks, lease) = (url(place), server.url(), lease.as_millis().to_string());
    let witness = witness.path().join("witness").display().to_string();
    let arguments = [&*store, &*locks, name, &*lease, &*witness];
    Node::start_with(Path::new(env!("CARGO_BIN_EXE_cluster-node")), &arguments).await
}

async fn done_once(store: &dyn Store, witness: &TempDir) {
    for (id, (_, lines)) in journals(store).await.unwrap() {
        let said = |what: &str| {
            let lines = lines.iter().filter(|line| line.contains("Logged"));
            lines.filter(|line| line.ends_with(what)).count()
        };
        assert_eq!((said("begun"), said("done")), (1, 1), "{id}: {lines:?}");
    }
    let told = std::fs::read_to_string(witness.path().join("witness")).unwrap_or_default();
    assert_eq!(told, "", "steps begun without a lock");
}

fn create(number: usize) -> Order {
    Order::Create {
        instance: InstanceId::new(&format!("stays-{number}")).unwrap(),
        definition: DefinitionId::new("staying").unwrap(),
        input: Values::new(),
    }
}

async fn until_all_are(store: &dyn Store, status: SubStatus) {
    within(LIMIT, "all instances are as far as that", async {
        loop {
            let all = journals(store).await.unwrap();
            let there = all.values().filter(|(found, _)| *found == status);
            if there.count() == INSTANCES {
                return;
            }
            sleep(Duration::from_millis(20)).await;
        }
    })
    .await;
}
