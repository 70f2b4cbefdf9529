//! Stimuli and bookmarks on several nodes at once: each stimulus reaches its instance once, or waits for it.

use crate::{SOON, node, server, support::*};
use lockwork::store::postgres::PostgresStore;
use lockwork::{
    runtime::store::{ErrandKind, ErrandStore, Held, InstanceStore, StimulusStore},
    workflow::{ErrorKind::Fenced, InstanceId, Time},
};
use lockwork_conformance::within;
use std::{
    collections::BTreeMap,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
};

const INSTANCES: usize = 6;
const EVENTS: usize = 3;
const SENDERS: usize = 4;
const EACH: usize = 500;
const WORKERS: usize = 6;

/// What all of them see.
#[derive(Default)]
struct Seen {
    delivered: Mutex<BTreeMap<String, usize>>,
    marks: AtomicUsize,
    sent: AtomicBool,
    redirected: AtomicUsize,
}

fn one_of(count: usize) -> usize {
    rand::random_range(0..count)
}

fn named(number: usize) -> String {
    format!("i{number}")
}

/// Each waits for one of the events, by a bookmark of a new name.
async fn begin(store: &PostgresStore, seen: &Seen) {
    for number in 0..INSTANCES {
        let id = named(number);
        store.create(new(&id)).await.unwrap();
        let mut commit = nothing(&store.claim(&instance(&id), "begin").await.unwrap().unwrap());
        commit.wait(mark(&next_mark(&id, seen), &format!("E{}", one_of(EVENTS))));
        store.commit(commit).await.unwrap();
    }
}

fn next_mark(id: &str, seen: &Seen) -> String {
    format!("{id}:{}", seen.marks.fetch_add(1, Ordering::AcqRel))
}

async fn send(store: Arc<PostgresStore>, lane: usize) {
    for number in 0..EACH {
        let stimulus = event_for(&format!("E{}", one_of(EVENTS)), &named(one_of(INSTANCES)));
        let name = format!("s{lane}-{number}");
        store.send(sending_as(&name, stimulus)).await.unwrap();
    }
}

/// Until everything was sent and nothing is left to do.
async fn work(store: Arc<PostgresStore>, seen: Arc<Seen>) {
    loop {
        let all_sent = seen.sent.load(Ordering::Acquire);
        let taken = store.take(NOW, later(600), 4).await.unwrap();
        if taken.is_empty() && all_sent {
            return;
        }
        for held in taken {
            deliver(&store, &seen, held).await;
        }
    }
}

/// As the runtime does: claims, and goes on if the bookmark is there; otherwise the stimulus goes on.
async fn deliver(store: &PostgresStore, seen: &Seen, held: Held) {
    let ErrandKind::Deliver {
        instance: to,
        bookmark,
        ..
    } = &held.errand.kind
    else {
        panic!("there is nothing else to do: {held:?}");
    };
    loop {
        let drawn = format!("{:032x}", rand::random::<u128>());
        let claimed = store.claim(to, &drawn).await.unwrap().unwrap();
        if !claimed
            .state
            .waiting()
            .iter()
            .any(|one| one.id == *bookmark)
        {
            seen.redirected.fetch_add(1, Ordering::AcqRel);
            return store.redirect(&held, NOW, later(600)).await.unwrap();
        }
        let mut commit = nothing(&claimed);
        commit.leave(bookmark.as_str());
        // Now it waits for one more than before, now for one less; never twice for the same.
        for _ in 0..=one_of(2) {
            let name = format!("E{}", one_of(EVENTS));
            let waits = commit.state.waiting();
            if waits.is_empty() || !waits.iter().any(|one| one.hash == hash(&name)) {
                commit.wait(mark(&next_mark(to.as_str(), seen), &name));
            }
        }
        commit.consumes = Some(held.clone());
        match store.commit(commit).await {
            Ok(_) => break,
            Err(error) => assert_eq!(error.kind(), Fenced, "{error:?}"),
        }
    }
    let name = held
        .errand
        .id
        .split(['/', '+', '@'])
        .next()
        .unwrap()
        .to_owned();
    *seen.delivered.lock().unwrap().entry(name).or_default() += 1;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn no_stimulus_is_lost_and_none_is_delivered_twice() {
    let server = server(&[("deadlock_timeout", "50ms")]);
    let mut nodes = Vec::new();
    for _ in 0..3 {
        nodes.push(Arc::new(node(&server).await));
    }
    let seen = Arc::new(Seen::default());
    begin(&nodes[0], &seen).await;
    let lanes = (0..SENDERS).map(|lane| tokio::spawn(send(Arc::clone(&nodes[lane % 3]), lane)));
    let lanes: Vec<_> = lanes.collect();
    let workers = (0..WORKERS)
        .map(|lane| tokio::spawn(work(Arc::clone(&nodes[lane % 3]), Arc::clone(&seen))));
    let workers: Vec<_> = workers.collect();
    let limit = SOON * 4;
    for lane in lanes {
        within(limit, "all are sent", lane).await.unwrap();
    }
    seen.sent.store(true, Ordering::Release);
    for worker in workers {
        within(limit, "all are delivered", worker).await.unwrap();
    }
    // What a worker's last step has freed.
    work(Arc::clone(&nodes[0]), Arc::clone(&seen)).await;
    settled(&nodes[0], &seen).await;
    let deadlocks = server
        .sql("SELECT deadlocks FROM pg_stat_database WHERE datname = 'postgres'")
        .unwrap();
    println!(
        "{} stimuli, {} came too late for a bookmark, {} deadlocks that nobody saw",
        SENDERS * EACH,
        seen.redirected.load(Ordering::Acquire),
        deadlocks.trim()
    );
}

/// Each was delivered once, or waits for an instance that does not wait for it.
async fn settled(store: &PostgresStore, seen: &Seen) {
    let delivered = seen.delivered.lock().unwrap().clone();
    let twice: Vec<_> = delivered.iter().filter(|(_, count)| **count > 1).collect();
    assert!(twice.is_empty(), "delivered twice: {twice:?}");
    let waiting = store.waiting().await.unwrap();
    assert_eq!(
        delivered.len() + waiting.len(),
        SENDERS * EACH,
        "some are lost"
    );
    for one in &waiting {
        let to: &InstanceId = one.stimulus.to.instance.as_ref().unwrap();
        let state = store.load(to).await.unwrap().unwrap().state;
        let could = state
            .waiting()
            .iter()
            .any(|mark| mark.hash == one.stimulus.hash);
        assert!(!could, "{} waits for {to}, which waits for it", one.id);
    }
    let end = Time::from_millis(i64::MAX - 1);
    assert!(store.take(end, end, 1).await.unwrap().is_empty());
    println!("{} delivered, {} wait", delivered.len(), waiting.len());
}
