//! Whether a node lives, can work, and what it counted: also when its store is away or it has much to do.

use crate::{
    away::{Away, Mood, SECRET},
    client::{Client, soon},
    place::Place,
};
use lockwork_server::{Keys, Limits, Scope};
use serde_json::json;
use std::sync::Arc;

/// A node on a store that can be away, and somebody who may look.
async fn on(store: &Arc<Away>) -> (Place, Client) {
    let (key, line) = Keys::draw("reader", &[Scope::Read]);
    let keys = Keys::from_text(&line).unwrap();
    let place = Place::on(Arc::clone(store), |server| server.keys(keys)).await;
    let reader = Client {
        key: Some(key),
        ..place.stranger()
    };
    ready(&reader).await;
    (place, reader)
}

async fn ready(reader: &Client) {
    soon(async { while reader.get("/readyz").await.status != 200 {} }).await;
}

#[tokio::test]
async fn what_was_counted_is_told_while_the_store_is_away() {
    let store = Arc::new(Away::new());
    let (_place, reader) = on(&store).await;
    for mood in [Mood::Refuses, Mood::Silent] {
        store.set(mood);
        // The last answer may be used for a moment.
        soon(async {
            while reader
                .get("/metrics")
                .await
                .is(200)
                .text
                .contains("lockwork_node_alive{")
            {}
        })
        .await;
        let text = reader.get("/metrics").await.is(200).text;
        assert!(text.contains("lockwork_http_connections "), "{text}");
        store.set(Mood::Answers);
        soon(async {
            while !reader
                .get("/metrics")
                .await
                .is(200)
                .text
                .contains("lockwork_node_alive{")
            {}
        })
        .await;
    }
}

#[tokio::test]
async fn what_was_counted_is_told_while_there_is_no_room() {
    let mut limits = Limits::default();
    limits.requests = 1;
    let place = Place::with(limits).await;
    let id = place.waiting().await;
    let slow = place.slow(&id);
    soon(async { while place.all.get("/v1/nodes").await.status != 503 {} }).await;
    let text = place.reader.get("/metrics").await.is(200).text;
    assert!(text.contains("lockwork_http_connections "), "{text}");
    place.stranger().get("/metrics").await.is(401);
    slow.abort();
}

#[tokio::test]
async fn a_node_whose_store_is_away_is_not_ready_and_tells_strangers_no_more_than_that() {
    let store = Arc::new(Away::new());
    let (place, reader) = on(&store).await;
    store.set(Mood::Refuses);
    soon(async { while reader.get("/readyz").await.status != 503 {} }).await;
    let told = reader.get("/readyz").await.is(503);
    assert!(told.text.contains(SECRET), "{told:?}");
    for path in ["/readyz", "/healthz"] {
        let told = place.stranger().get(path).await;
        assert!(!told.text.contains(SECRET), "{told:?}");
    }
    let told = place.stranger().get("/readyz").await.is(503).json();
    assert_eq!(told["why"], "the store does not answer");
    store.set(Mood::Silent);
    let told = place.stranger().get("/readyz").await.is(503).json();
    assert_eq!(told["ready"], json!(false));
    store.set(Mood::Answers);
    ready(&reader).await;
}
