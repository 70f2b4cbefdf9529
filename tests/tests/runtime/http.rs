//! Asking servers by HTTP.

use crate::support::{World, of};
use lockwork::flow::{State, build::*};
use lockwork::workflow::SubStatus;
use serde_json::json;
use std::{
    io::{Read, Write},
    net::{SocketAddr, TcpListener},
    sync::{Arc, mpsc},
    time::Duration,
};

/// A server that answers once, and gives what it was asked.
fn server(answer: String) -> (SocketAddr, mpsc::Receiver<String>) {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let address = listener.local_addr().unwrap();
    let (asked, heard) = mpsc::channel();
    std::thread::spawn(move || {
        let (mut connection, _) = listener.accept().unwrap();
        let limit = Some(Duration::from_secs(10));
        connection.set_read_timeout(limit).unwrap();
        let _ = asked.send(read_request(&mut connection));
        let _ = connection.write_all(answer.as_bytes());
    });
    (address, heard)
}

/// The head, and as much of a body as it promises.
fn read_request(connection: &mut impl Read) -> String {
    let (mut request, mut part) = (String::new(), [0; 4096]);
    while !is_whole(&request) {
        let read = connection.read(&mut part).unwrap();
        request.push_str(&String::from_utf8_lossy(&part[..read]));
    }
    request
}

fn is_whole(request: &str) -> bool {
    let Some((head, body)) = request.split_once("\r\n\r\n") else {
        return false;
    };
    let promised = head.lines().find_map(|line| {
        let (name, length) = line.split_once(':')?;
        (name.eq_ignore_ascii_case("content-length")).then(|| length.trim().parse().unwrap())
    });
    body.len() >= promised.unwrap_or(0)
}

fn answer(status: &str, body: &str) -> String {
    let length = body.len();
    format!(
        "HTTP/1.1 {status}\r\ncontent-length: {length}\r\nx-mine: yes\r\nconnection: close\r\n\r\n{body}"
    )
}

async fn ask(root: Draft) -> Arc<State> {
    let world = World::new().await;
    world
        .publish(workflow("w").variable("got", ()).root(root.into("got")))
        .await;
    world.start("a", of("w")).await;
    world.settle().await;
    world.state("a").await
}

#[tokio::test]
async fn a_server_is_asked_and_its_answer_is_given() {
    let (address, heard) = server(answer("200 OK", r#"{"ok":true}"#));
    let root = http("ask", format!("http://{address}/path"))
        .with("method", "post")
        .with("headers", json!({ "x-order": "17" }))
        .with("body", json!({ "n": 1 }));
    let state = ask(root).await;
    let got = &state.variables["got"];
    assert_eq!(
        (&got["status"], &got["body"]),
        (&json!(200), &json!({ "ok": true }))
    );
    assert_eq!(got["headers"]["x-mine"], json!("yes"));
    let asked = heard.recv_timeout(Duration::from_secs(10));
    let asked = asked.expect("it was asked: not within 10 s");
    assert!(asked.starts_with("POST /path HTTP/1.1"), "{asked}");
    assert!(
        asked.contains("x-order: 17") && asked.contains("idempotency-key:"),
        "{asked}"
    );
    assert!(asked.ends_with(r#"{"n":1}"#), "{asked}");
}

#[tokio::test]
async fn an_answer_that_says_no_is_an_answer() {
    let (address, _heard) = server(answer("404 Not Found", "nothing here"));
    let state = ask(http("ask", format!("http://{address}/"))).await;
    assert_eq!(state.sub_status, SubStatus::Finished);
    assert_eq!(state.variables["got"]["status"], json!(404));
    assert_eq!(state.variables["got"]["body"], json!("nothing here"));
}

#[tokio::test]
async fn a_server_that_cannot_be_reached_is_a_failure_that_may_pass() {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let state = ask(http("ask", format!("http://{address}/?key=secret"))).await;
    let failure = &state.incidents[0].failure;
    assert_eq!(failure.code, "http.failed");
    assert!(
        failure.transient && !failure.message.contains("secret"),
        "{failure:?}"
    );
}

#[tokio::test]
async fn a_server_that_does_not_answer_is_not_waited_for_for_ever() {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let address = listener.local_addr().unwrap();
    let root = http("ask", format!("http://{address}/")).with("timeout", "50ms");
    let state = ask(root).await;
    assert_eq!(state.incidents[0].failure.code, "http.timeout");
    drop(listener);
}

#[tokio::test]
async fn an_answer_that_is_too_large_is_a_failure() {
    let (address, _heard) = server(answer("200 OK", &"x".repeat(600 * 1024)));
    let state = ask(http("ask", format!("http://{address}/"))).await;
    assert_eq!(state.incidents[0].failure.code, "http.large");
}
