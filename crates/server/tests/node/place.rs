//! A node of a test's own.

use crate::client::{Answer, Client};
use lockwork_core::{
    lock::{Locks, Memory},
    workflow::{Create, CreateAndRun, DefinitionHandle, Runtime, Time, VersionSelect},
};
use lockwork_flow::Definition;
use lockwork_runtime::{Drained, LocalRuntime, MemoryStore, Options, RuntimeBuilder, Store};
use lockwork_server::{Keys, Limits, Scope, Server};
use serde_json::{Value, json};
use std::{sync::Arc, time::Duration};
use tokio::{sync::oneshot, task::JoinHandle};

/// A node, with a key for each of some people.
pub(crate) struct Place {
    pub(crate) runtime: LocalRuntime,
    pub(crate) locks: Locks,
    /// May do anything.
    pub(crate) all: Client,
    /// May look.
    pub(crate) reader: Client,
    end: Option<oneshot::Sender<()>>,
    pub(crate) ended: JoinHandle<Drained>,
}

impl Place {
    pub(crate) async fn new() -> Self {
        Self::with(Limits::default()).await
    }

    pub(crate) async fn with(limits: Limits) -> Self {
        let (all, line) = Keys::draw("all", &Scope::ALL);
        let (reader, other) = Keys::draw("reader", &[Scope::Read]);
        let keys = Keys::from_text(&format!("{line}\n{other}")).unwrap();
        let mut place = Self::keyed(keys, limits).await;
        place.all.key = Some(all);
        place.reader.key = Some(reader);
        place
    }

    /// One that only knows these keys.
    pub(crate) async fn keyed(keys: Keys, limits: Limits) -> Self {
        let store = Arc::new(MemoryStore::new());
        Self::on(store, |server| server.keys(keys).limits(limits)).await
    }

    /// One on this store.
    pub(crate) async fn on(
        store: Arc<impl Store + 'static>,
        with: impl FnOnce(Server) -> Server,
    ) -> Self {
        let mut options = Options::default();
        options.node = "here".to_owned();
        options.drain = Duration::from_secs(20);
        let runtime = RuntimeBuilder::new(store).options(options).build();
        runtime.start().await.unwrap();
        let locks = Locks::new(Memory::new());
        let server = Server::new(runtime.clone()).locks(locks.clone());
        let listening = with(server).listen("127.0.0.1:0").await.unwrap();
        let client = Client {
            address: listening.address(),
            key: None,
        };
        let (end, told) = oneshot::channel();
        let ended = tokio::spawn(listening.run(async {
            // That the test is over is an end too.
            let _ = told.await;
        }));
        Self {
            all: client.clone(),
            reader: client,
            end: Some(end),
            runtime,
            locks,
            ended,
        }
    }

    /// Nobody's.
    pub(crate) fn stranger(&self) -> Client {
        Client {
            key: None,
            ..self.all.clone()
        }
    }

    pub(crate) fn end(&mut self) {
        self.end.take().unwrap().send(()).unwrap();
    }

    /// Puts a workflow that waits for an event and gives out what came with it.
    pub(crate) async fn waits(&self) {
        let put = self.all.ask("PUT", "/v1/definitions/waits", Some(waits()));
        put.await.is(200);
    }

    /// A request that is under way until something happens in an instance, which nothing does.
    pub(crate) fn slow(&self, id: &str) -> JoinHandle<Answer> {
        let path = format!("/v1/instances/{id}/journal?from=99&wait=30");
        let client = self.all.clone();
        tokio::spawn(async move { client.get(&path).await })
    }

    /// An instance of it, made without asking the node.
    pub(crate) async fn prepared(&self) -> String {
        let mut json = waits();
        json["id"] = "waits".into();
        let definition = Definition::from_value(json).unwrap();
        let definitions = self.runtime.definitions();
        definitions.publish(definition).await.unwrap();
        let waits = DefinitionHandle::Of {
            definition: "waits".parse().unwrap(),
            select: VersionSelect::Published,
        };
        let create = CreateAndRun::new(Create::new(waits));
        let ran = self.runtime.client(None).create_and_run(create).await;
        ran.unwrap().instance.to_string()
    }

    /// Makes dead letters of all stimuli that wait, and names the first.
    pub(crate) async fn buries(&self) -> String {
        let (store, later) = (self.runtime.store(), Time::from_millis(i64::MAX));
        store.purge(later, Time::from_millis(0)).await.unwrap();
        let letters = store.dead_letters().await.unwrap();
        letters[0].id.clone()
    }

    /// An instance of it.
    pub(crate) async fn waiting(&self) -> String {
        self.waits().await;
        let ran = self
            .all
            .post("/v1/definitions/waits/start", json!({}))
            .await
            .is(200);
        let ran = ran.json();
        assert_eq!(ran["subStatus"], "suspended", "{ran}");
        ran["instance"].as_str().unwrap().to_owned()
    }
}

pub(crate) fn waits() -> Value {
    json!({
        "lockwork": 1,
        "root": { "type": "Sequence", "id": "all", "do": [
            { "type": "Event", "id": "wait", "with": { "name": "go" } },
            { "type": "Log", "id": "said", "with": { "text": "gone" } },
        ]},
    })
}
