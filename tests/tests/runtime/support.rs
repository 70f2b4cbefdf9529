//! What these tests share: a runtime whose time they move, limits for whatever waits, and functions that do as they
//! are told.

use lockwork::distributed::{DistributedOptions, LockCluster};
use lockwork::flow::{Coded, Happened, Registry, State, build::Workflow};
use lockwork::runtime::{
    Driver, Error, ErrorKind, Event, LocalRuntime, Reached, RuntimeBuilder, Store, VirtualClock,
    store::{VersionRow, WaitingStimulus},
};
use lockwork::workflow::{
    BookmarkId, Client, Create, CreateAndRun, DefinitionHandle, DefinitionId, Failure, InstanceId,
    Ran, Runtime, Stimulus, SubStatus, Value, Values,
};
use lockwork::{Locks, Memory};
use lockwork_conformance::{StoreKind, StorePlace};
use serde_json::json;
use std::{
    future::Future,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};
use tokio::sync::{broadcast, watch};

/// Longer than anything here takes on a busy machine.
const LIMIT: Duration = Duration::from_secs(60);

pub(crate) const SECOND: Duration = Duration::from_secs(1);
pub(crate) const DAY: Duration = Duration::from_secs(86_400);

/// As long as a node keeps what it was handed, and a little longer.
pub(crate) const PAST_HOLD: Duration = Duration::from_secs(31);

/// What `work` gives, if it does so in time.
pub(crate) async fn soon<T: Send>(work: impl Future<Output = T> + Send) -> T {
    let done = tokio::time::timeout(LIMIT, work).await;
    done.unwrap_or_else(|_| panic!("not within {LIMIT:?}"))
}

pub(crate) fn instance(id: &str) -> InstanceId {
    InstanceId::new(id).expect("a test's id is one")
}

pub(crate) fn definition(id: &str) -> DefinitionId {
    DefinitionId::new(id).expect("a test's id is one")
}

/// An instance of what is published under this id.
pub(crate) fn of(id: &str) -> Create {
    Create::new(DefinitionHandle::published(definition(id)))
}

/// The fields of an object.
pub(crate) fn values(json: Value) -> Values {
    match json {
        Value::Object(fields) => fields,
        other => Values::from_iter([("value".to_owned(), other)]),
    }
}

/// The event called `name`.
pub(crate) fn event_called(name: &str) -> Stimulus {
    Stimulus::new("Event", &json!({ "name": name })).expect("a test's event is one")
}

/// What went wrong.
pub(crate) fn kind<T: std::fmt::Debug>(answer: Result<T, Error>) -> ErrorKind {
    answer.expect_err("this should have failed").kind()
}

/// A function that says when it was called, and goes on when it is told.
#[derive(Clone, Debug)]
pub(crate) struct Gate {
    calls: Arc<watch::Sender<usize>>,
    inside: Arc<watch::Sender<usize>>,
    most: Arc<AtomicUsize>,
    open: Arc<watch::Sender<bool>>,
}

impl Gate {
    pub(crate) fn new() -> Self {
        Self {
            calls: Arc::new(watch::Sender::new(0)),
            inside: Arc::new(watch::Sender::new(0)),
            most: Arc::default(),
            open: Arc::new(watch::Sender::new(false)),
        }
    }

    /// Goes through, once it is open.
    pub(crate) async fn pass(self) -> Result<Value, Failure> {
        self.inside.send_modify(|inside| {
            *inside += 1;
            self.most.fetch_max(*inside, Ordering::AcqRel);
        });
        let _leave = Leave(Arc::clone(&self.inside));
        self.calls.send_modify(|calls| *calls += 1);
        let opened = self.open.subscribe().wait_for(|open| *open).await.is_ok();
        Ok(json!(opened))
    }

    /// Ends when it was called so often.
    pub(crate) async fn called(&self, often: usize) {
        let mut calls = self.calls.subscribe();
        let called = calls.wait_for(|calls| *calls >= often);
        soon(async { called.await.map(drop) })
            .await
            .expect("the sender is here");
    }

    pub(crate) fn calls(&self) -> usize {
        *self.calls.borrow()
    }

    /// How many stood before it at once.
    pub(crate) fn most(&self) -> usize {
        self.most.load(Ordering::Acquire)
    }

    /// Ends when nobody stands before it.
    pub(crate) async fn empty(&self) {
        let mut inside = self.inside.subscribe();
        let empty = inside.wait_for(|inside| *inside == 0);
        soon(async { empty.await.map(drop) })
            .await
            .expect("the sender is here");
    }

    pub(crate) fn open(&self) {
        self.open.send_replace(true);
    }

    #[allow(dead_code, reason = "not every program of tests closes it again")]
    pub(crate) fn close(&self) {
        self.open.send_replace(false);
    }
}

/// Whoever goes, or is dropped, stands there no more.
struct Leave(Arc<watch::Sender<usize>>);

impl Drop for Leave {
    fn drop(&mut self) {
        self.0.send_modify(|inside| *inside -= 1);
    }
}

/// What functions were called with, in order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Notes(Arc<Mutex<Vec<Value>>>);

impl Notes {
    fn add(&self, value: Value) {
        self.0.lock().expect("no test panics here").push(value);
    }

    pub(crate) fn all(&self) -> Vec<Value> {
        self.0.lock().expect("no test panics here").clone()
    }
}

/// A place for a store that nobody else uses, of the kind this run is about.
pub(crate) fn fresh() -> StorePlace {
    let kind = StoreKind::chosen().unwrap_or(StoreKind::Memory);
    StorePlace::new(kind).expect("the store of this run is there")
}

/// A store that nobody else uses. It is there as long as its place is.
pub(crate) async fn fresh_store() -> (Arc<dyn Store>, StorePlace) {
    let place = fresh();
    let store = soon(place.open()).await;
    (store.expect("the store of this run answers"), place)
}

/// Whether nothing but the test lets time pass: a store outside of this process takes time of its own, and while it is
/// waited for, a clock that leaps as soon as everybody is idle would leap.
pub(crate) fn time_is_ours() -> bool {
    StoreKind::chosen().is_none_or(|kind| kind == StoreKind::Memory)
}

/// A runtime that does things when it is asked to, and what its activities can call: `note` writes down what it is
/// given, `gate` waits until it is open.
#[derive(Debug)]
pub(crate) struct World {
    pub(crate) clock: VirtualClock,
    pub(crate) store: Arc<dyn Store>,
    pub(crate) notes: Notes,
    pub(crate) gate: Gate,
    pub(crate) driver: Driver,
    place: Option<Arc<StorePlace>>,
    /// Where the locks of all nodes live, if they have some.
    locks: Memory,
}

impl World {
    pub(crate) async fn new() -> Self {
        Self::with(|builder| builder).await
    }

    pub(crate) async fn with(change: impl FnOnce(RuntimeBuilder) -> RuntimeBuilder + Send) -> Self {
        let (store, place) = fresh_store().await;
        Self {
            place: Some(Arc::new(place)),
            ..Self::on(store, change)
        }
    }

    /// On a store whose place somebody else keeps.
    pub(crate) fn on(
        store: Arc<dyn Store>,
        change: impl FnOnce(RuntimeBuilder) -> RuntimeBuilder,
    ) -> Self {
        let (clock, notes, gate) = (VirtualClock::default(), Notes::default(), Gate::new());
        let (builder, locks) = (RuntimeBuilder::new(Arc::clone(&store)), Memory::new());
        let builder = one_of_many(builder, &locks)
            .clock(clock.clone())
            .registry(registry(&notes, &gate));
        let driver = Driver::new(change(builder).build(), clock.clone());
        Self {
            clock,
            store,
            notes,
            gate,
            driver,
            place: None,
            locks,
        }
    }

    /// Another node, on the same store and with the same clock. Its gate is its own.
    pub(crate) fn node(&self, change: impl FnOnce(RuntimeBuilder) -> RuntimeBuilder) -> Self {
        let (notes, gate) = (self.notes.clone(), Gate::new());
        let builder = RuntimeBuilder::new(Arc::clone(&self.store));
        let builder = one_of_many(builder, &self.locks)
            .clock(self.clock.clone())
            .registry(registry(&notes, &gate));
        let driver = Driver::new(change(builder).build(), self.clock.clone());
        Self {
            clock: self.clock.clone(),
            store: Arc::clone(&self.store),
            notes,
            gate,
            driver,
            place: self.place.clone(),
            locks: self.locks.clone(),
        }
    }

    pub(crate) fn runtime(&self) -> &LocalRuntime {
        self.driver.runtime()
    }

    pub(crate) async fn publish(&self, workflow: Workflow) -> VersionRow {
        let definition = workflow.build().expect("a test's workflow is one");
        let published = soon(self.runtime().definitions().publish(definition)).await;
        published.expect("a test's workflow can be published")
    }

    pub(crate) fn client(&self, id: &str) -> Arc<dyn Client> {
        self.runtime().client(Some(instance(id)))
    }

    /// Runs a new instance, called `id`, as far as it goes.
    pub(crate) async fn start(&self, id: &str, create: Create) -> Ran {
        let client = self.client(id);
        let ran = soon(client.create_and_run(CreateAndRun::new(create))).await;
        ran.expect("a test's instance can be started")
    }

    /// The same, while the test goes on.
    pub(crate) fn spawn_start(&self, id: &str, create: Create) -> tokio::task::JoinHandle<Started> {
        let client = self.client(id);
        tokio::spawn(async move { client.create_and_run(CreateAndRun::new(create)).await })
    }

    /// Does everything that is due.
    pub(crate) async fn settle(&self) -> usize {
        soon(self.driver.settle()).await.expect("the store answers")
    }

    /// The same, while the test goes on.
    pub(crate) fn spawn_settle(&self) -> tokio::task::JoinHandle<usize> {
        let driver = self.driver.clone();
        tokio::spawn(async move { driver.settle().await.expect("the store answers") })
    }

    pub(crate) async fn advance(&self, by: Duration) {
        soon(self.driver.advance(by))
            .await
            .expect("the store answers");
    }

    pub(crate) async fn event(&self, name: &str, payload: Value) -> Reached {
        let reached = soon(self.runtime().sender().event(name, payload)).await;
        reached.expect("the store answers")
    }

    pub(crate) async fn send(&self, stimulus: Stimulus) -> Reached {
        let reached = soon(self.runtime().sender().send(stimulus)).await;
        reached.expect("the store answers")
    }

    pub(crate) async fn exists(&self, id: &str) -> bool {
        let exists = soon(self.client(id).exists()).await;
        exists.expect("the store answers")
    }

    pub(crate) async fn state(&self, id: &str) -> Arc<State> {
        state(&*self.store, &instance(id)).await
    }

    pub(crate) async fn status(&self, id: &str) -> SubStatus {
        self.state(id).await.sub_status
    }

    /// The one bookmark at which it waits.
    pub(crate) async fn bookmark(&self, id: &str) -> BookmarkId {
        let state = self.state(id).await;
        match state.waiting() {
            [one] => one.id.clone(),
            other => panic!("this waits at one bookmark, and not at {other:?}"),
        }
    }

    /// What it said in its journal.
    pub(crate) async fn logged(&self, id: &str) -> Vec<String> {
        let journal = soon(self.store.journal(&instance(id), 0)).await;
        let journal = journal.expect("the store answers").into_iter();
        let logged = journal.filter(|entry| entry.happened == Happened::Logged);
        logged.filter_map(|entry| entry.note).collect()
    }

    pub(crate) async fn waiting(&self) -> Vec<WaitingStimulus> {
        let waiting = soon(self.store.waiting()).await;
        waiting.expect("the store answers")
    }

    /// How many instances there are.
    pub(crate) async fn count(&self) -> usize {
        let all = soon(self.store.list(lockwork::runtime::store::Filter::default())).await;
        all.expect("the store answers").len()
    }
}

/// What `LOCKWORK_LOCKS` says: whether each node is one of many.
pub(crate) const MANY: (&str, &str) = ("LOCKWORK_LOCKS", "memory");

/// The same node, with locks of its own between it and the others if this run is about that.
fn one_of_many(builder: RuntimeBuilder, place: &Memory) -> RuntimeBuilder {
    if std::env::var(MANY.0).as_deref() != Ok(MANY.1) {
        return builder;
    }
    let mut options = DistributedOptions::default();
    options.allow_local_locks = true;
    // As long as one node keeps what it was handed: facts tell of that.
    options.lease = Duration::from_secs(30);
    let cluster = LockCluster::new(Locks::new(place.clone()), options);
    builder.cluster(cluster.expect("local locks are allowed"))
}

pub(crate) type Started = Result<Ran, Error>;

/// What a task of the test gives, in time.
pub(crate) async fn joined<T: Send>(task: tokio::task::JoinHandle<T>) -> T {
    soon(task).await.expect("no task of a test panics")
}

pub(crate) async fn state(store: &dyn Store, id: &InstanceId) -> Arc<State> {
    let record = soon(store.load(id)).await;
    let record = record.expect("the store answers");
    record.expect("there is such an instance").state
}

/// Ends when the instance is as far as `wanted`. Listen before it can be.
pub(crate) async fn reaches(
    store: &dyn Store,
    events: &mut broadcast::Receiver<Event>,
    id: &InstanceId,
    wanted: SubStatus,
) {
    loop {
        let record = soon(store.load(id)).await;
        let record = record.expect("the store answers");
        if record.is_some_and(|record| record.state.sub_status == wanted) {
            return;
        }
        // One that was missed does not matter: the store is asked again.
        let _ = soon(events.recv()).await;
    }
}

fn registry(notes: &Notes, gate: &Gate) -> Registry {
    let (notes, gate) = (notes.clone(), gate.clone());
    Registry::standard()
        .code("note", move |call: Coded| {
            notes.add(call.args);
            std::future::ready(Ok(Value::Null))
        })
        .code("gate", move |_| gate.clone().pass())
        .code("panic", |_| async { panic!("on purpose") })
        .code("refuse", |_| async {
            Err(Failure::new("refused", "on purpose"))
        })
}
