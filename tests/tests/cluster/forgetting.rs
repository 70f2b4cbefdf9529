//! A lock server that forgets everything again and again: several nodes believe that it is their turn with an instance,
//! and the store alone decides whose work counts. With a number from the lock server that is compared when something is
//! written, instead of a claim before anything is read, what two have read at once is written by both.

use crate::{left::until_nothing_is_left, run::url};
use lockwork::{
    distributed::{Distributed, DistributedOptions, DistributedRuntime},
    flow::{Registry, build::*},
    runtime::{Options, RuntimeBuilder, Store},
    workflow::{
        Create, CreateAndRun, DefinitionHandle, DefinitionId, Delivery, ErrorKind, InstanceId,
        Runtime, Value, Values,
    },
};
use lockwork_conformance::{within, workflows::stay};
use lockwork_servers::{Postgres, Redis, RedisSettings, Settings};
use rand::RngExt;
use std::{sync::Arc, time::Duration};
use tokio::{task::JoinSet, time::sleep};

const NODES: usize = 3;

/// Few enough that nodes meet at each of them.
const COUNTERS: usize = 6;

/// How often each task adds one, and how many tasks of each node do.
const RESUMES: usize = 30;
const TASKS: usize = 4;

/// How long a step takes, so that the server forgets in the middle of many.
const STEP: Duration = Duration::from_millis(40);

/// How often it forgets.
const FORGETS: Duration = Duration::from_millis(25);

const LIMIT: Duration = Duration::from_secs(90);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_is_lost_or_doubled_by_locks_that_are_forgotten_all_the_time() {
    let (place, server) = (
        Postgres::start(Settings::new()).unwrap(),
        Arc::new(Redis::start(RedisSettings::new()).unwrap()),
    );
    let mut nodes = Vec::new();
    for number in 0..NODES {
        nodes.push(node(number, &place, &server.url()).await);
    }
    let counters = counters(&nodes[0]).await;
    let forgets = tokio::spawn(forget(Arc::clone(&server)));
    let mut tasks = JoinSet::new();
    for node in nodes.iter().flat_map(|one| std::iter::repeat_n(one, TASKS)) {
        let (node, counters) = (node.clone(), counters.clone());
        tasks.spawn(async move { add(&node, &counters).await });
    }
    let counted = within(LIMIT, "all bursts are over", tasks.join_all()).await;
    forgets.abort();
    let counted: usize = counted.into_iter().sum();
    let store = Arc::clone(nodes[0].store());
    until_nothing_is_left(&*store).await;
    let found = sum(&*store, &counters).await;
    println!("{counted} of {} bursts counted", NODES * TASKS * RESUMES);
    assert_eq!(found, counted, "as many as were told so");
    for node in nodes {
        node.drain().await;
    }
}

/// A node that takes over from others after two seconds.
async fn node(number: usize, place: &Postgres, locks: &str) -> DistributedRuntime {
    let store = lockwork::store::connect(&url(place)).await.unwrap();
    let locks = lockwork::connect(locks).await.unwrap();
    let mut options = Options::default();
    options.node = format!("node-{number}");
    let mut shared = DistributedOptions::default();
    shared.lease = Duration::from_secs(2);
    let builder = RuntimeBuilder::new(store).options(options);
    let builder = builder.registry(stay(Registry::standard(), STEP));
    let node = builder.distributed(locks, shared).unwrap();
    node.start().await.unwrap();
    node
}

/// Instances that add one for each event, and take their time.
async fn counters(node: &DistributedRuntime) -> Vec<InstanceId> {
    let steps = [
        event("add", "Add"),
        call("stay", "stay"),
        set_variable("one", "count", expr("count + 1")),
    ];
    let counter = workflow("counter").variable("count", 0);
    let counter = counter.root(while_("always", true, sequence("body", steps)));
    node.definitions()
        .publish(counter.build().unwrap())
        .await
        .unwrap();
    let mut all = Vec::new();
    for number in 0..COUNTERS {
        let handle = DefinitionHandle::published(DefinitionId::new("counter").unwrap());
        let id = InstanceId::new(&format!("counter-{number}")).unwrap();
        let create = CreateAndRun::new(Create::new(handle));
        let client = node.client(Some(id.clone()));
        client.create_and_run(create).await.unwrap();
        all.push(id);
    }
    all
}

async fn forget(server: Arc<Redis>) {
    loop {
        let server = Arc::clone(&server);
        let forgot = tokio::task::spawn_blocking(move || server.ask(&["FLUSHALL"]).map(drop));
        forgot.await.unwrap().unwrap();
        sleep(FORGETS).await;
    }
}

/// Adds one at a bookmark, where several nodes meet: each is told whether it counts. Gives how many did.
async fn add(node: &DistributedRuntime, counters: &[InstanceId]) -> usize {
    let mut counted = 0;
    for _ in 0..RESUMES {
        let counter = &counters[rand::rng().random_range(0..counters.len())];
        let record = node.store().load(counter).await.unwrap();
        let record = record.expect("it is there");
        let bookmark = record.state.waiting().first().expect("it waits");
        let resumer = node.resumer();
        let resumed = resumer.resume(counter, bookmark.id.clone(), Values::new());
        match resumed.await {
            Ok(ran) => counted += usize::from(ran.delivery == Delivery::Done),
            Err(error) => assert_eq!(error.kind(), ErrorKind::Fenced, "{error}"),
        }
    }
    counted
}

async fn sum(store: &dyn Store, counters: &[InstanceId]) -> usize {
    let mut sum = 0;
    for counter in counters {
        let record = store.load(counter).await.unwrap().expect("it is there");
        let count = record.state.variables.get("count").and_then(Value::as_u64);
        sum += usize::try_from(count.expect("a number")).unwrap();
    }
    sum
}
