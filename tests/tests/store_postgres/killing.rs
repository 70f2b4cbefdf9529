//! A backend is killed between a claim and its commit, and the server forgets whatever was not on disk.

use crate::{
    SOON,
    backends::{backend, kill_one},
    node, server,
    support::*,
};
use lockwork::store::postgres::PostgresStore;
use lockwork::{
    runtime::store::{Claimed, InstanceStore},
    workflow::ErrorKind::{Fenced, Unavailable},
};
use lockwork_conformance::within;

/// How often, unless `LOCKWORK_ROUNDS` says otherwise.
const ROUNDS: u64 = 6;

fn rounds() -> u64 {
    let asked = std::env::var("LOCKWORK_ROUNDS").ok();
    asked.map_or(ROUNDS, |text| text.parse().expect("a number"))
}

/// Creates it, as soon as our connections are new ones.
async fn made(store: &PostgresStore, id: &str) {
    while let Err(error) = store.create(new(id)).await {
        assert_eq!(error.kind(), Unavailable, "{error}");
    }
}

/// Claims, as soon as the server is back.
async fn claimed(store: &PostgresStore, id: &str, by: &str) -> Claimed {
    loop {
        match store.claim(&instance(id), by).await {
            Ok(claimed) => return claimed.unwrap(),
            Err(error) => assert_eq!(error.kind(), Unavailable, "{error}"),
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_claim_that_the_server_forgot_is_never_taken_for_another() {
    // What does not wait for the disk stays in memory for ten seconds.
    let server = server(&[("wal_writer_delay", "10000")]);
    let (one, other) = (node(&server).await, node(&server).await);
    let (mut forgotten, mut round) = (0, 0);
    // Whether one is depends on what the server wrote meanwhile: a claim that stays shows nothing.
    while round < rounds() || (forgotten == 0 && round < 10 * rounds()) {
        let id = format!("i{round}");
        within(SOON, "it is made", made(&one, &id)).await;
        let pid = backend(&server);
        let first = one.claim(&instance(&id), "first").await.unwrap().unwrap();
        kill_one(&server, pid).await;
        let second = within(SOON, "the server is back", claimed(&other, &id, "second")).await;
        let same = second.claim.epoch == first.claim.epoch;
        forgotten += usize::from(same);
        assert_eq!(second.claim.version, first.claim.version);

        let mut late = nothing(&first);
        late.journal.push(entry(0, "late"));
        // Its own connection was reset, which it may find out now.
        let refused = loop {
            match one.commit(late.clone()).await {
                Err(error) if error.kind() == Unavailable => {}
                other => break other,
            }
        };
        assert_eq!(kind(refused), Fenced, "round {round}, forgotten: {same}");
        let mut commit = nothing(&second);
        commit.journal.push(entry(0, "in time"));
        let committed = other.commit(commit).await.unwrap();
        assert_eq!(committed.version, 1);
        let journal = other.journal(&instance(&id), 0).await.unwrap();
        assert_eq!(journal, [entry(0, "in time")]);
        round += 1;
    }
    println!("{forgotten} of {round} claims were forgotten by the server");
    assert!(
        forgotten > 0,
        "no claim was forgotten, so nothing was shown: not within {round} rounds"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_committed_outlives_the_server() {
    let server = server(&[("wal_writer_delay", "10000")]);
    let store = node(&server).await;
    for round in 0..rounds() {
        let id = format!("i{round}");
        within(SOON, "it is made", made(&store, &id)).await;
        let pid = backend(&server);
        let claimed_once = store.claim(&instance(&id), "once").await.unwrap().unwrap();
        store.commit(nothing(&claimed_once)).await.unwrap();
        kill_one(&server, pid).await;
        let again = within(SOON, "the server is back", claimed(&store, &id, "again")).await;
        assert_eq!(again.claim.version, 1, "round {round}");
        assert_eq!(again.committed_by.as_deref(), Some("once"));
    }
}
