//! Looking after a node: pausing it, refreshing what it knows, its locks, its counts, and what happens on it.

use crate::{
    client::{Client, soon},
    place::Place,
};
use serde_json::json;
use std::time::Duration;
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader},
    net::TcpStream,
};

/// The status of an answer that may never end.
pub(crate) async fn first_line(client: &Client, method: &str, path: &str) -> u16 {
    let mut lines = listening(client, method, path).await;
    let line = soon(lines.next_line()).await.unwrap().unwrap();
    line.split(' ').nth(1).unwrap().parse().unwrap()
}

pub(crate) type Lines = tokio::io::Lines<BufReader<TcpStream>>;

pub(crate) async fn listening(client: &Client, method: &str, path: &str) -> Lines {
    let mut stream = TcpStream::connect(client.address).await.unwrap();
    let request = client.request(method, path, "", "");
    stream.write_all(request.as_bytes()).await.unwrap();
    BufReader::new(stream).lines()
}

#[tokio::test]
async fn a_node_is_paused_and_resumed() {
    let place = Place::new().await;
    let (all, reader) = (&place.all, &place.reader);
    place.waits().await;
    soon(async {
        while reader.get("/readyz").await.status != 200 {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    })
    .await;
    let nodes = reader.get("/v1/nodes").await.is(200).json();
    assert_eq!(
        (&nodes["nodes"][0]["name"], &nodes["nodes"][0]["alive"]),
        (&json!("here"), &json!(true))
    );
    let node = reader.get("/v1/node").await.is(200).json();
    assert_eq!(
        (&node["locks"], &node["ready"]),
        (&json!("memory"), &json!(true))
    );
    let paused = all.post("/v1/node/pause", json!({})).await.is(200).json();
    assert_eq!(paused["ready"], false);
    let why = reader.get("/readyz").await.is(503).json();
    assert!(why["why"].is_string(), "{why}");
    reader.get("/healthz").await.is(200);
    let refused = all
        .post("/v1/definitions/waits/start", json!({}))
        .await
        .is(503);
    assert!(refused.header("retry-after").is_some(), "{refused:?}");
    all.post("/v1/node/resume", json!({})).await.is(200);
    all.post("/v1/definitions/waits/start", json!({}))
        .await
        .is(200);
}

#[tokio::test]
async fn definitions_are_refreshed_and_reloaded() {
    let place = Place::new().await;
    place.waits().await;
    let wanted = json!({ "definitions": ["waits", "none"] });
    let done = place.all.post("/v1/refresh", wanted).await.is(200).json();
    assert_eq!(
        (&done["refreshed"], &done["notFound"]),
        (&json!(["waits"]), &json!(["none"]))
    );
    let done = place.all.post("/v1/reload", json!({})).await.is(200).json();
    assert_eq!(done["published"], json!([]));
}

#[tokio::test]
async fn a_lock_is_seen_and_broken_with_a_reason() {
    let place = Place::new().await;
    let guard = place.locks.mutex("a/b c").lock().await.unwrap();
    let path = "/v1/locks/a%2Fb%20c";
    let lock = place.reader.get(path).await.is(200).json();
    assert_eq!(lock["name"], "a/b c");
    assert!(lock["holders"][0]["token"].is_string(), "{lock}");
    let whole = format!("{path}/break");
    place.all.post(&whole, json!({ "why": " " })).await.is(400);
    place.all.post(&whole, json!({})).await.is(400);
    let broken = place
        .all
        .post(&whole, json!({ "why": "stuck" }))
        .await
        .is(200)
        .json();
    assert_eq!(broken["broken"], 1);
    soon(guard.lost().into_future()).await;
    place.reader.get(&format!("{path}?kind=rw")).await.is(200);
    place
        .reader
        .get(&format!("{path}?kind=other"))
        .await
        .is(400);
}

#[tokio::test]
async fn whoever_listens_is_told_what_happens() {
    let place = Place::new().await;
    let id = place.waiting().await;
    let mut lines = listening(&place.reader, "GET", &format!("/v1/live?instance={id}")).await;
    soon(async { while lines.next_line().await.unwrap().unwrap() != "" {} }).await;
    place
        .all
        .post("/v1/events/go", json!({ "instance": id }))
        .await
        .is(200);
    let told = soon(async {
        loop {
            let line = lines.next_line().await.unwrap().unwrap();
            if let Some(data) = line.strip_prefix("data: ") {
                return serde_json::from_str::<serde_json::Value>(data).unwrap();
            }
        }
    })
    .await;
    assert_eq!(
        (&told["instance"], &told["subStatus"]),
        (&json!(id), &json!("finished"))
    );
    drop(lines);
}

#[tokio::test]
async fn what_was_counted_is_told() {
    let place = Place::new().await;
    place.waiting().await;
    soon(async {
        loop {
            let text = place.reader.get("/metrics").await.is(200).text;
            let line = "lockwork_http_requests_total{operation=\"startInstance\",status=\"200\"} 1";
            if text.contains(line) && text.contains("lockwork_node_alive{node=\"here\"} 1") {
                break;
            }
        }
    })
    .await;
}
