//! What a store costs when it has been used for long, and what it costs to wait in it.

use crate::{asked, place::Place};
use lockwork::{
    flow::State,
    runtime::{
        Clock, Store, SystemClock,
        store::{Claim, Commit, NewInstance, Sending},
    },
    workflow::{
        Bookmark, DefinitionId, InstanceId, Stimulus, StimulusHash, SubStatus, Values, VersionId,
    },
};
use lockwork_conformance::{
    within,
    workflows::{Node, Order, definitions},
};
use serde_json::{Value, json};
use std::{
    path::Path,
    sync::Arc,
    time::{Duration, Instant},
};

/// So many bookmarks come and go with each commit, always with the same hashes.
const AT_ONCE: u64 = 100;

/// What has gone is swept up by then: PostgreSQL looks once a minute whether there is something to sweep.
const SWEPT: Duration = Duration::from_secs(90);

/// How often each store is asked for all of them; the best counts.
const ROUNDS: usize = 7;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn bookmarks_on_sqlite_are_found_as_fast_after_many_have_come_and_gone() {
    lookups_stay_fast(Place::sqlite(), Place::sqlite()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn bookmarks_on_postgres_are_found_as_fast_after_many_have_come_and_gone() {
    lookups_stay_fast(Place::postgres(), Place::postgres()).await;
}

/// One store is used, and its twin is not. Both are asked by turns: whoever else uses the machine slows down both.
async fn lookups_stay_fast(used: Place, new: Place) {
    let cycles = asked("LOCKWORK_CYCLES", 20_000);
    let (used, new) = (used.store().await, new.store().await);
    for store in [&used, &new] {
        Waits::new(&**store, "stays").await.wait(&**store).await;
        // Once for nothing: whatever is made at the first time is made.
        lookups(&**store).await;
    }
    let (mut busy, begun) = (Waits::new(&*used, "busy").await, Instant::now());
    for _ in 0..cycles / AT_ONCE {
        busy.wait(&*used).await;
    }
    busy.leave(&*used).await;
    let (took, begun) = (begun.elapsed(), Instant::now());
    loop {
        let (mut before, mut after) = (Duration::MAX, Duration::MAX);
        for _ in 0..ROUNDS {
            before = before.min(lookups(&*new).await);
            after = after.min(lookups(&*used).await);
        }
        let waited = begun.elapsed();
        println!(
            "{cycles} bookmarks came and went in {took:?}: {waited:?} later p50 {after:?}, and {before:?} where none did"
        );
        if after <= before * 2 {
            return;
        }
        assert!(waited < SWEPT, "too late: it is slow for too long");
    }
}

/// An instance whose bookmarks change with each commit.
struct Waits {
    claim: Claim,
    state: State,
    made: u64,
}

impl Waits {
    async fn new(store: &dyn Store, id: &str) -> Self {
        let instance = instance_of(store, id).await;
        let claimed = store.claim(&instance, "claim").await.unwrap().unwrap();
        Self {
            claim: claimed.claim,
            state: State::clone(&claimed.state),
            made: 0,
        }
    }

    /// Waits for all hashes, with new bookmarks instead of those it had.
    async fn wait(&mut self, store: &dyn Store) {
        let bookmarks: Vec<_> = (0..AT_ONCE).map(|at| self.bookmark(at)).collect();
        self.made += 1;
        self.commit(store, bookmarks).await;
    }

    async fn leave(&mut self, store: &dyn Store) {
        self.commit(store, Vec::new()).await;
    }

    async fn commit(&mut self, store: &dyn Store, bookmarks: Vec<Bookmark>) {
        let removed = self.state.bookmarks.iter().map(|one| one.id.clone());
        let removed = removed.collect();
        self.state.bookmarks.clone_from(&bookmarks);
        self.state.sub_status = SubStatus::Suspended;
        let (claim, state) = (self.claim.clone(), Arc::new(self.state.clone()));
        let commit = Commit {
            added: bookmarks,
            removed,
            ..Commit::new(claim, state, SystemClock.now())
        };
        self.claim.version = store.commit(commit).await.unwrap().version;
    }

    fn bookmark(&self, at: u64) -> Bookmark {
        let (instance, made) = (&self.state.instance, self.made);
        let bookmark = json!({
            "id": format!("{instance}:{made}:{at}"),
            "name": "Event",
            "hash": hash(at),
            "node": "main",
            "execution": "1",
            "burns": true,
            "created": self.state.created,
        });
        serde_json::from_value(bookmark).unwrap()
    }
}

/// An instance on which nobody works.
async fn instance_of(store: &dyn Store, id: &str) -> InstanceId {
    let instance = InstanceId::new(id).unwrap();
    let new = NewInstance {
        state: State::new(instance.clone(), version(store).await, SystemClock.now()),
        activation: None,
        key: None,
        errand: None,
        consumes: None,
        claim: None,
    };
    store.create(new).await.unwrap();
    instance
}

async fn version(store: &dyn Store) -> VersionId {
    let definition = definitions().unwrap().remove(0);
    let new = lockwork::runtime::store::NewVersion {
        definition,
        publish: false,
        triggers: Vec::new(),
        now: SystemClock.now(),
    };
    store.put(new).await.unwrap().id
}

fn hash(at: u64) -> StimulusHash {
    StimulusHash::of("Event", &json!({ "at": at }), None).unwrap()
}

/// What half of the stimuli that find their bookmark take at most.
async fn lookups(store: &dyn Store) -> Duration {
    let mut took = Vec::new();
    for at in 0..AT_ONCE {
        let now = SystemClock.now();
        let sending = Sending {
            id: format!("{:016x}", rand::random::<u64>()),
            stimulus: Stimulus::by_hash(hash(at)),
            now,
            expires: None,
            consumes: None,
            hold: now.after(Duration::from_secs(60)),
        };
        let begun = Instant::now();
        let sent = store.send(sending).await.unwrap();
        took.push(begun.elapsed());
        assert_eq!(sent.errands.len(), 1);
        assert!(store.done(&sent.errands[0]).await.unwrap());
    }
    took.sort_unstable();
    took[took.len() / 2]
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ten_thousand_instances_that_wait_on_sqlite_take_no_memory() {
    waiting_takes_no_memory(Place::sqlite()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ten_thousand_instances_that_wait_on_postgres_take_no_memory() {
    waiting_takes_no_memory(Place::postgres()).await;
}

const WAITING: u64 = 10_000;

/// So many first, so that whatever grows once has grown.
const BEFORE: u64 = 2_000;

async fn waiting_takes_no_memory(place: Place) {
    // Its tables are there before the first one is created.
    drop(place.store().await);
    let program = Path::new(env!("CARGO_BIN_EXE_workflow-node"));
    let mut node = Node::start(program, &place.url()).await;
    let limit = Duration::from_secs(120);
    within(limit, "the first ones wait", create(&mut node, 0..BEFORE)).await;
    let before = memory(&mut node).await;
    within(
        limit,
        "all of them wait",
        create(&mut node, BEFORE..BEFORE + WAITING),
    )
    .await;
    let after = memory(&mut node).await;
    println!("{WAITING} instances wait: {before} kB before, {after} kB after");
    assert!(
        after.saturating_sub(before) <= 5 * 1024,
        "{before} kB before, {after} kB after"
    );
}

/// Has instances created that wait for an event.
async fn create(node: &mut Node, numbers: std::ops::Range<u64>) {
    let mut under_way = 0;
    for number in numbers {
        let order = Order::Create {
            instance: InstanceId::new(&format!("order-{number}")).unwrap(),
            definition: DefinitionId::new("order").unwrap(),
            input: input(number),
        };
        node.tell(&order).await;
        under_way += 1;
        if under_way == 32 {
            done(node).await;
            under_way -= 1;
        }
    }
    for _ in 0..under_way {
        done(node).await;
    }
}

async fn done(node: &mut Node) {
    assert_eq!(node.answer().await.expect("it lives").error, None);
}

fn input(order: u64) -> Values {
    let given = [("order", Value::from(order)), ("pause", 1.into())];
    Values::from_iter(given.map(|(name, value)| (name.to_owned(), value)))
}

/// How often a node is asked what it has in memory, with a pause before each; the least counts.
const READINGS: u32 = 8;
const PAUSE: Duration = Duration::from_millis(500);

/// What it has in memory, in kilobytes, once it has nothing to do: what it still works on goes in time, and what waiting
/// takes stays.
async fn memory(node: &mut Node) -> u64 {
    let mut least = u64::MAX;
    for _ in 0..READINGS {
        tokio::time::sleep(PAUSE).await;
        least = least.min(node.ask("memory").await.parse().unwrap());
    }
    least
}
