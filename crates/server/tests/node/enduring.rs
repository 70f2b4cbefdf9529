//! What a node withstands: too much, too slow, too long, and nonsense.

use crate::{
    client::{Client, soon},
    place::Place,
};
use lockwork_server::Limits;
use serde_json::json;
use std::time::{Duration, Instant};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

/// How much memory this process has, in bytes.
#[cfg(target_os = "linux")]
fn memory() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmRSS:"))
        .unwrap();
    let kib: usize = line.trim().trim_end_matches(" kB").parse().unwrap();
    kib * 1024
}

/// Sends a body without end, until nobody takes it any more, and reads meanwhile. Says how much was taken.
async fn flood(client: &Client, say: &str) -> (usize, String) {
    let stream = TcpStream::connect(client.address).await.unwrap();
    let (mut reads, mut writes) = stream.into_split();
    let say = say.to_owned();
    let writing = tokio::spawn(async move {
        writes.write_all(say.as_bytes()).await.unwrap();
        let (chunk, mut sent) = (vec![b' '; 1 << 16], 0);
        while sent < 1 << 30 && writes.write_all(&chunk).await.is_ok() {
            sent += chunk.len();
        }
        sent
    });
    let mut answer = Vec::new();
    let _ = reads.read_to_end(&mut answer).await;
    drop(reads);
    let sent = writing.await.unwrap();
    (sent, String::from_utf8_lossy(&answer).into_owned())
}

#[cfg(target_os = "linux")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_body_of_a_gigabyte_is_refused_and_takes_no_memory() {
    let place = Place::new().await;
    place.waits().await;
    let before = memory();
    let request = place
        .all
        .request("POST", "/v1/definitions/waits/start", "", "");
    let long = request.replace("Content-Length: 0", &format!("Content-Length: {}", 1 << 30));
    let (sent, answer) = soon(flood(&place.all, &long)).await;
    assert!(answer.starts_with("HTTP/1.1 413 "), "{answer}");
    assert!(sent < 1 << 26, "{sent} bytes were taken");
    let chunked = request.replace("Content-Length: 0", "Transfer-Encoding: chunked");
    let (sent, answer) = soon(flood(&place.all, &format!("{chunked}40000000\r\n"))).await;
    assert!(answer.starts_with("HTTP/1.1 413 "), "{answer}");
    assert!(sent < 1 << 26, "{sent} bytes were taken");
    let grown = memory().saturating_sub(before);
    assert!(grown < 32 << 20, "{grown} bytes more");
    place.all.get("/v1/nodes").await.is(200);
}

#[cfg(target_os = "linux")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn thousands_of_slow_connections_keep_nobody_out() {
    const MANY: usize = 10_000;
    const AT_ONCE: usize = 800;
    let mut limits = Limits::default();
    limits.connections = 256;
    let place = Place::with(limits).await;
    let (before, mut open) = (memory(), std::collections::VecDeque::new());
    for number in 0..MANY {
        let mut stream = soon(TcpStream::connect(place.all.address)).await.unwrap();
        // A part of a request, and never the rest.
        let _ = stream.write_all(b"GET /v1/nodes HTTP/1.1\r\nHost: ").await;
        open.push_back(stream);
        if open.len() > AT_ONCE {
            open.pop_front();
        }
        if number % 1000 == 0 {
            let asked = Instant::now();
            place.all.get("/v1/nodes").await.is(200);
            let took = asked.elapsed();
            assert!(took < Duration::from_secs(5), "too late: {took:?}");
        }
    }
    let grown = memory().saturating_sub(before);
    println!("{MANY} slow connections: {} KiB more", grown / 1024);
    assert!(grown < 64 << 20, "{grown} bytes more");
    place.all.get("/readyz").await.is(200);
}

#[tokio::test]
async fn a_connection_that_never_asks_is_closed() {
    let mut limits = Limits::default();
    limits.headers = Duration::from_millis(200);
    let place = Place::with(limits).await;
    let mut stream = TcpStream::connect(place.all.address).await.unwrap();
    stream.write_all(b"GET / HTTP/1.1\r\n").await.unwrap();
    let mut rest = Vec::new();
    // Closed in either way.
    let _ = soon(stream.read_to_end(&mut rest)).await;
}

#[tokio::test]
async fn a_request_that_takes_too_long_is_answered_and_goes_on() {
    let mut limits = Limits::default();
    limits.time = Duration::from_millis(200);
    let place = Place::with(limits).await;
    // Not by requests: on a busy machine those take as long.
    let id = place.prepared().await;
    let slow = format!("/v1/instances/{id}/journal?from=99&wait=30");
    let late = place.all.get(&slow).await.is(504).json();
    assert!(
        late["detail"].as_str().unwrap().contains("may go on"),
        "{late}"
    );
    place.all.get("/healthz").await.is(200);
}

#[tokio::test]
async fn more_requests_than_there_is_room_for_are_told_to_come_again() {
    let mut limits = Limits::default();
    limits.requests = 1;
    let place = Place::with(limits).await;
    let id = place.waiting().await;
    let slow = place.slow(&id);
    soon(async {
        while place.all.get("/v1/nodes").await.status != 503 {
            tokio::task::yield_now().await;
        }
    })
    .await;
    place.all.get("/healthz").await.is(200);
    slow.abort();
    let _ = slow.await;
    soon(async {
        while place.all.get("/v1/nodes").await.status != 200 {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    })
    .await;
}

#[tokio::test]
async fn nonsense_is_answered_with_a_problem() {
    let place = Place::new().await;
    place.waits().await;
    let all = &place.all;
    let start = "/v1/definitions/waits/start";
    for body in [
        "{",
        "[]",
        "nonsense",
        "{\"input\":7}",
        "{\"inptu\":{}}",
        "\u{1}",
        "{\"a\":1",
    ] {
        let request = all.request("POST", start, "", body);
        let refused = all.send(&request).await.is(400);
        assert_eq!(
            refused.header("content-type"),
            Some("application/problem+json")
        );
    }
    let deep = "[".repeat(100_000);
    all.send(&all.request("POST", start, "", &deep))
        .await
        .is(400);
    for path in [
        "/v1/instances/%00",
        "/v1/instances/%FF",
        "/v1/instances/a%0Ab",
    ] {
        all.get(path).await.is(400);
    }
    for path in [
        "/../../etc/passwd",
        "/v1/../../etc/passwd",
        "/v1/definitions/..%2F..%2Fetc%2Fpasswd",
        "//",
        "/v2",
    ] {
        let status = all.get(path).await.status;
        assert_eq!(status, 404, "{path}");
    }
    all.ask("PATCH", "/v1/nodes", None).await.is(405);
    all.send("nonsense\r\n\r\n").await.is(400);
    let long = all.request("GET", &format!("/v1/instances/{}", "x".repeat(300)), "", "");
    all.send(&long).await.is(400);
    all.post("/v1/events/go", json!({ "payload": 1 }))
        .await
        .is(200);
}
