//! Those who send or read slowly, or not at all.

use crate::{
    client::{Client, soon},
    endpoints::{echo, put},
    looking_after::listening,
    place::Place,
};
use lockwork_flow::Definition;
use lockwork_server::Limits;
use serde_json::json;
use std::time::Duration;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

/// A request whose body begins and does not go on.
async fn trickles(client: &Client, path: &str) -> TcpStream {
    let request = client.request("POST", path, "", "{");
    let request = request.replace("Content-Length: 1", "Content-Length: 100");
    let mut stream = TcpStream::connect(client.address).await.unwrap();
    stream.write_all(request.as_bytes()).await.unwrap();
    stream
}

/// What comes back until the end, however that comes.
async fn rest(mut stream: TcpStream) -> String {
    let mut bytes = Vec::new();
    let _ = soon(stream.read_to_end(&mut bytes)).await;
    String::from_utf8_lossy(&bytes).into_owned()
}

/// A definition that is larger than what systems keep of a connection, and where it is.
async fn large(place: &Place) -> &'static str {
    let text = "x".repeat(32 << 20);
    let json = json!({ "lockwork": 1, "id": "large", "root": { "type": "Log", "id": "a", "with": { "text": text } } });
    let definition = Definition::from_value(json).unwrap();
    let definitions = place.runtime.definitions();
    definitions.publish(definition).await.unwrap();
    "/v1/definitions/large"
}

/// Connections that ask for nothing.
async fn idle(client: &Client, many: usize) -> Vec<TcpStream> {
    let mut all = Vec::new();
    for _ in 0..many {
        all.push(TcpStream::connect(client.address).await.unwrap());
        // It was taken before this was answered.
        client.get("/healthz").await.is(200);
    }
    all
}

#[tokio::test]
async fn a_body_that_trickles_takes_nobodys_room() {
    let mut limits = Limits::default();
    limits.requests = 1;
    let place = Place::with(limits).await;
    let open = json!({ "wait": true, "public": true });
    put(&place.all, "open", echo("POST", "/open", open))
        .await
        .is(200);
    let mut slow = Vec::new();
    for path in ["/workflows/open", "/v1/links/x", "/workflows/none"] {
        slow.push(trickles(&place.stranger(), path).await);
        slow.push(trickles(&place.all, path).await);
    }
    slow.push(trickles(&place.all, "/v1/events/go").await);
    for _ in 0..20 {
        place.all.get("/v1/nodes").await.is(200);
    }
    place
        .stranger()
        .post("/workflows/open", json!({}))
        .await
        .is(201);
}

#[tokio::test]
async fn whoever_has_no_good_link_or_route_is_refused_before_its_body_comes() {
    let place = Place::new().await;
    let stranger = place.stranger();
    for (path, status) in [("/v1/links/x", " 403 "), ("/workflows/none", " 401 ")] {
        let answer = rest(trickles(&stranger, path).await).await;
        let head = answer.lines().next().unwrap_or_default();
        assert!(head.contains(status), "{path}: {answer}");
    }
}

#[tokio::test]
async fn a_body_that_does_not_come_is_waited_for_no_longer_than_a_head() {
    let mut limits = Limits::default();
    limits.headers = Duration::from_millis(200);
    let place = Place::with(limits).await;
    let answer = rest(trickles(&place.all, "/v1/events/go").await).await;
    assert!(answer.starts_with("HTTP/1.1 408 "), "{answer}");
    assert!(answer.contains("application/problem+json"), "{answer}");
}

#[tokio::test]
async fn of_too_many_connections_one_whose_body_trickles_is_closed() {
    let mut limits = Limits::default();
    limits.connections = 4;
    limits.headers = Duration::from_secs(3600);
    let place = Place::with(limits).await;
    let slow = trickles(&place.all, "/v1/events/go").await;
    let _idle = idle(&place.all, 8).await;
    assert_eq!(rest(slow).await, "", "it was closed");
}

#[tokio::test]
async fn of_too_many_connections_those_that_listen_stay() {
    let mut limits = Limits::default();
    limits.connections = 4;
    let place = Place::with(limits).await;
    let id = place.waiting().await;
    let mut lines = listening(&place.reader, "GET", &format!("/v1/live?instance={id}")).await;
    soon(async { while lines.next_line().await.unwrap().unwrap() != "" {} }).await;
    let _idle = idle(&place.all, 8).await;
    place
        .all
        .post("/v1/events/go", json!({ "instance": id }))
        .await
        .is(200);
    let told = soon(lines.next_line()).await.unwrap();
    assert!(told.is_some(), "it was cut off");
}

#[tokio::test]
async fn of_too_many_connections_those_that_are_being_answered_stay() {
    let mut limits = Limits::default();
    limits.connections = 4;
    let place = Place::with(limits).await;
    let request = place.all.request("GET", large(&place).await, "", "");
    let mut stream = TcpStream::connect(place.all.address).await.unwrap();
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut first = [0; 1];
    soon(stream.read_exact(&mut first)).await.unwrap();
    let _idle = idle(&place.all, 8).await;
    let answer = rest(stream).await;
    assert!(answer.len() > 32 << 20, "{} bytes came", answer.len());
}

#[tokio::test]
async fn whoever_takes_nothing_of_its_answer_is_cut_off() {
    let mut limits = Limits::default();
    limits.reading = Duration::from_millis(200);
    let place = Place::with(limits).await;
    let request = place.all.request("GET", large(&place).await, "", "");
    let mut stream = TcpStream::connect(place.all.address).await.unwrap();
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut first = [0; 1];
    soon(stream.read_exact(&mut first)).await.unwrap();
    soon(async {
        while !place
            .reader
            .get("/metrics")
            .await
            .is(200)
            .text
            .contains("lockwork_http_connections 1\n")
        {}
    })
    .await;
    let answer = rest(stream).await;
    assert!(answer.len() < 32 << 20, "{} bytes came", answer.len());
}
