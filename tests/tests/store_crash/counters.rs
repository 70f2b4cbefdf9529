//! Instances that count the bursts that count: each event adds one, for ever.

use lockwork::{
    flow::{EVENT, Happened, build::*, delivered},
    runtime::{LocalRuntime, Options, RuntimeBuilder, Store},
    workflow::{
        Addressee, BookmarkId, Create, CreateAndRun, DefinitionHandle, DefinitionId, InstanceId,
        Result, Runtime, Stimulus, Value,
    },
};
use lockwork_conformance::within;
use serde_json::json;
use std::{sync::Arc, time::Duration};

/// The name of the event.
const ADD: &str = "Add";

/// A node that has nothing but its own turns, and takes over from others after half a second.
pub(crate) fn node(store: Arc<dyn Store>) -> LocalRuntime {
    let mut options = Options::default();
    options.hold = Duration::from_millis(500);
    RuntimeBuilder::new(store).options(options).build()
}

/// So many of them, at zero.
pub(crate) async fn new(runtime: &LocalRuntime, count: usize) -> Vec<InstanceId> {
    let add = set_variable("one", "count", expr("count + 1"));
    let body = sequence("body", [event("add", ADD), add]);
    let counter = workflow("counter").variable("count", 0);
    let counter = counter.root(while_("always", true, body)).build().unwrap();
    runtime.definitions().publish(counter).await.unwrap();
    let mut all = Vec::new();
    for number in 0..count {
        let handle = DefinitionHandle::published(DefinitionId::new("counter").unwrap());
        let id = InstanceId::new(&format!("counter-{number}")).unwrap();
        let create = CreateAndRun::new(Create::new(handle));
        let client = runtime.client(Some(id.clone()));
        client.create_and_run(create).await.unwrap();
        all.push(id);
    }
    all
}

/// One for `counter`; of several with one key, one counts.
pub(crate) fn one(counter: &InstanceId, key: String) -> Stimulus {
    let mut to = Addressee::default();
    to.instance = Some(counter.clone());
    let add = Stimulus::new(EVENT, &json!({ "name": ADD })).unwrap();
    add.to(to).input(delivered(None)).key(key)
}

/// Sends it again until it is known to be sent; it has a key.
pub(crate) async fn until_told(node: &LocalRuntime, add: Stimulus) {
    let sender = node.sender();
    patiently(|| sender.send(add.clone())).await;
}

/// Asks again for as long as the answer may be another one a little later.
pub(crate) async fn patiently<T, F: Future<Output = Result<T>>>(mut ask: impl FnMut() -> F) -> T {
    let answered = async {
        loop {
            match ask().await {
                Ok(answer) => return answer,
                Err(error) => assert!(error.is_transient(), "{error}"),
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    within(Duration::from_secs(60), "an answer", answered).await
}

/// Where it waits.
pub(crate) async fn bookmark(store: &dyn Store, counter: &InstanceId) -> Result<BookmarkId> {
    let record = store.load(counter).await?.expect("it is there");
    let bookmark = record.state.waiting().first().expect("it waits");
    Ok(bookmark.id.clone())
}

/// How far it has counted.
pub(crate) async fn count(store: &dyn Store, counter: &InstanceId) -> Result<u64> {
    let record = store.load(counter).await?.expect("it is there");
    let count = record.state.variables.get("count").and_then(Value::as_u64);
    Ok(count.expect("a number"))
}

/// The sum of all.
pub(crate) async fn sum(store: &dyn Store, counters: &[InstanceId]) -> Result<u64> {
    let mut sum = 0;
    for counter in counters {
        sum += count(store, counter).await?;
    }
    Ok(sum)
}

/// Fails unless the journal of each tells of as many bursts as it has counted, each once.
pub(crate) async fn agree_with_their_journals(store: &dyn Store, counters: &[InstanceId]) {
    for counter in counters {
        let (count, journal) = (
            count(store, counter).await.unwrap(),
            store.journal(counter, 0).await.unwrap(),
        );
        let resumed = journal
            .iter()
            .filter(|entry| entry.happened == Happened::Resumed);
        assert_eq!(resumed.count() as u64, count, "{counter}");
        let numbers = journal.iter().map(|entry| entry.sequence);
        assert!(
            numbers.eq(0..journal.len() as u64),
            "{counter}: entries are missing, or there twice"
        );
    }
}
