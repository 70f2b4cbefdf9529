//! Operations that are committed together: one that is refused takes no other with it, and one that was handed over is
//! done.

use crate::support::{
    Place, at, bookmark, claim, commit, create, errand, instance, kind, new_instance, soon, state,
};
use lockwork_core::workflow::ErrorKind;
use lockwork_runtime::store::{Creation, ErrandStore, Held, InstanceStore};
use lockwork_store::sqlite::{Options, SqliteStore};
use sqlx::Executor;
use std::{sync::Arc, time::Duration};

/// So many at once.
const MANY: usize = 100;

#[tokio::test]
async fn whoever_comes_at_once_is_committed_together() {
    let place = Place::new();
    let store = Arc::new(place.open().await);
    // Behind a lock, so that all of them stand in line when it is gone.
    let mut other = place.connection().await;
    other.execute("BEGIN IMMEDIATE").await.unwrap();
    let creating: Vec<_> = (0..MANY)
        .map(|number| {
            let store = Arc::clone(&store);
            let new = new_instance(state(&format!("i{number}")));
            tokio::spawn(async move { store.create(new).await })
        })
        .collect();
    tokio::time::sleep(Duration::from_millis(100)).await;
    other.execute("ROLLBACK").await.unwrap();
    for created in creating {
        assert_eq!(soon(created).await.unwrap().unwrap(), Creation::New(None));
    }
    // Each commit leaves a mark in the log: its pages, once per commit.
    let commits = log_commits(&place);
    assert!(commits < 20, "{MANY} operations took {commits} commits");
}

/// How many commits are in the log: the fourth byte group of a frame's header is not zero in its last one.
/// <https://www.sqlite.org/fileformat2.html#the_write_ahead_log>
fn log_commits(place: &Place) -> usize {
    let log = std::fs::read(format!("{}-wal", place.file().display())).unwrap();
    let (header, frames) = log.split_at(32);
    let salt = &header[16..24];
    let frames = frames.chunks(24 + 4096);
    let live = frames.filter(|frame| frame.len() > 24 && frame[8..16] == *salt);
    live.filter(|frame| frame[4..8] != [0; 4]).count()
}

#[tokio::test]
async fn one_that_is_refused_takes_no_other_with_it() {
    let place = Place::new();
    let store = Arc::new(place.open().await);
    create(&*store, "a").await;
    let stale = claim(&*store, "a").await;
    claim(&*store, "a").await;
    let mut other = place.connection().await;
    other.execute("BEGIN IMMEDIATE").await.unwrap();
    let mut answers = Vec::new();
    for number in 0..MANY {
        let store = Arc::clone(&store);
        let late = commit(stale.clone(), vec![bookmark("a:1", "Go")]);
        answers.push(tokio::spawn(async move {
            if number % 2 == 0 {
                return store.commit(late).await.map(drop);
            }
            store.add(vec![errand(&format!("e{number}"))]).await
        }));
    }
    tokio::time::sleep(Duration::from_millis(100)).await;
    other.execute("ROLLBACK").await.unwrap();
    for (number, answer) in answers.into_iter().enumerate() {
        let answer = soon(answer).await.unwrap();
        match number % 2 {
            0 => assert_eq!(kind(answer), ErrorKind::Fenced),
            _ => answer.unwrap(),
        }
    }
    let added = soon(store.take(at(0), at(10), MANY)).await.unwrap();
    assert_eq!(added.len(), MANY / 2);
    assert!(
        soon(store.journal(&instance("a"), 0))
            .await
            .unwrap()
            .is_empty()
    );
}

#[tokio::test]
async fn a_commit_without_its_errand_changes_nothing() {
    let place = Place::new();
    let store = place.open().await;
    create(&store, "a").await;
    soon(store.add(vec![errand("e")])).await.unwrap();
    let held = soon(store.take(at(0), at(10), 1)).await.unwrap().remove(0);
    let theirs = soon(store.take(at(10), at(20), 1)).await.unwrap().remove(0);
    assert_ne!(held.hold, theirs.hold);
    let mut late = commit(claim(&store, "a").await, vec![bookmark("a:1", "Go")]);
    late.consumes = Some(held);
    assert_eq!(kind(soon(store.commit(late)).await), ErrorKind::Fenced);
    assert!(soon(store.done(&theirs)).await.unwrap());
    let record = soon(store.load(&instance("a"))).await.unwrap().unwrap();
    assert_eq!(record.version, 0);
}

#[tokio::test]
async fn what_was_handed_over_is_done_when_nobody_waits_for_it() {
    let place = Place::new();
    let store = place.open().await;
    let mut other = place.connection().await;
    other.execute("BEGIN IMMEDIATE").await.unwrap();
    let new = new_instance(state("a"));
    let early = tokio::time::timeout(Duration::from_millis(100), store.create(new)).await;
    assert!(early.is_err(), "it did not wait");
    other.execute("ROLLBACK").await.unwrap();
    soon(async {
        while store.load(&instance("a")).await.unwrap().is_none() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    })
    .await;
}

#[tokio::test]
async fn closing_waits_for_what_was_handed_over() {
    let place = Place::new();
    let store = Arc::new(place.open().await);
    let asked: Vec<_> = (0..MANY)
        .map(|number| {
            let store = Arc::clone(&store);
            tokio::spawn(async move { store.add(vec![errand(&format!("e{number}"))]).await })
        })
        .collect();
    tokio::task::yield_now().await;
    soon(store.close()).await;
    let mut added = 0;
    for answer in asked {
        added += usize::from(soon(answer).await.unwrap().is_ok());
    }
    let store = place.open().await;
    let taken: Vec<Held> = soon(store.take(at(0), at(10), MANY)).await.unwrap();
    assert_eq!(taken.len(), added);
}

#[tokio::test]
async fn a_group_has_a_limit() {
    let place = Place::new();
    let options = Options::new(place.file()).group(3);
    let store = Arc::new(soon(SqliteStore::open_with(options)).await.unwrap());
    let asked: Vec<_> = (0..MANY)
        .map(|number| {
            let store = Arc::clone(&store);
            tokio::spawn(async move { store.add(vec![errand(&format!("e{number}"))]).await })
        })
        .collect();
    for answer in asked {
        soon(answer).await.unwrap().unwrap();
    }
    let commits = log_commits(&place);
    assert!(
        commits >= MANY / 3,
        "{MANY} operations took {commits} commits"
    );
}
