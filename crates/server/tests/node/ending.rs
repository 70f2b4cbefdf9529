//! How a node ends.

use crate::{
    away::Away,
    client::{Client, soon},
    place::Place,
};
use lockwork_core::workflow::{Client as Of, InstanceId, Runtime};
use lockwork_runtime::{Drained, Draining, Host, LocalRuntime, MemoryStore, RuntimeBuilder};
use lockwork_server::Server;
use serde_json::json;
use std::sync::Arc;
use tokio::{
    net::TcpStream,
    sync::{Notify, oneshot},
};

#[tokio::test]
async fn a_node_that_is_told_to_end_answers_what_was_asked_and_nobody_else() {
    let store = Arc::new(Away::new());
    let mut place = Place::on(Arc::clone(&store), |server| server).await;
    let id = place.waiting().await;
    let slow = place.slow(&id);
    store.asked("journal").await;
    place.end();
    assert_eq!(soon(&mut place.ended).await.unwrap(), Drained::Done);
    let answer = soon(slow).await.unwrap().is(200).json();
    assert_eq!(answer["entries"], json!([]));
    assert!(TcpStream::connect(place.all.address).await.is_err());
    let shown = place
        .runtime
        .store()
        .load(&id.parse().unwrap())
        .await
        .unwrap();
    assert_eq!(
        shown.unwrap().state.waiting().len(),
        1,
        "what waits goes on waiting"
    );
}

#[tokio::test]
async fn a_node_can_be_asked_to_end() {
    let mut place = Place::new().await;
    let ends = place
        .all
        .post("/v1/node/drain", json!({}))
        .await
        .is(202)
        .json();
    assert_eq!(ends["ready"], false);
    assert_eq!(soon(&mut place.ended).await.unwrap(), Drained::Done);
}

/// A node that ends when it is let.
#[derive(Debug)]
struct Hesitant {
    runtime: LocalRuntime,
    let_go: Arc<Notify>,
}

impl Runtime for Hesitant {
    fn client(&self, id: Option<InstanceId>) -> Arc<dyn Of> {
        self.runtime.client(id)
    }
}

impl Host for Hesitant {
    fn local(&self) -> &LocalRuntime {
        &self.runtime
    }

    fn drain(&self) -> Draining<'_> {
        Box::pin(async {
            self.let_go.notified().await;
            self.runtime.drain().await
        })
    }
}

#[tokio::test]
async fn a_signal_is_heard_while_a_node_ends_that_was_asked_to_and_it_is_not_ready() {
    let let_go = Arc::new(Notify::new());
    let runtime = RuntimeBuilder::new(Arc::new(MemoryStore::new())).build();
    runtime.start().await.unwrap();
    let host = Hesitant {
        runtime,
        let_go: Arc::clone(&let_go),
    };
    let listening = Server::new(host).listen("127.0.0.1:0").await.unwrap();
    let client = Client {
        address: listening.address(),
        key: None,
    };
    let (signal, told) = oneshot::channel::<()>();
    let (hears, heard) = oneshot::channel();
    let ended = tokio::spawn(listening.run(async {
        let _ = told.await;
        let _ = hears.send(());
    }));
    client.post("/v1/node/drain", json!({})).await.is(202);
    let health = client.get("/readyz").await.is(503).json();
    assert_eq!(health["why"], "it is about to end");
    client.get("/healthz").await.is(200);
    signal.send(()).expect("nobody hears signals any more");
    soon(heard).await.unwrap();
    let_go.notify_one();
    assert_eq!(soon(ended).await.unwrap(), Drained::Done);
}
