//! The proxy: what each kind of bad weather does, to bytes and to clients of PostgreSQL.

use super::{eventually, server};
use lockwork_conformance::Proxy;
use lockwork_servers::postgres::sql;
use std::{
    io::ErrorKind,
    net::Ipv4Addr,
    time::{Duration, Instant},
};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    time::timeout,
};

/// Long enough for a byte that is on its way to arrive.
const A_MOMENT: Duration = Duration::from_millis(150);

/// Long enough for what must come.
const LIMIT: Duration = Duration::from_secs(10);

/// A client and a server with a proxy between them.
async fn pair() -> (TcpStream, Proxy, TcpStream) {
    let (proxy, listener) = nobody_yet().await;
    let (client, server) = through(&proxy, &listener).await;
    (client, proxy, server)
}

async fn nobody_yet() -> (Proxy, TcpListener) {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let target = listener.local_addr().unwrap().port();
    (Proxy::start(target).await.unwrap(), listener)
}

async fn through(proxy: &Proxy, listener: &TcpListener) -> (TcpStream, TcpStream) {
    let client = connect(proxy).await;
    let accepted = timeout(LIMIT, listener.accept()).await;
    let (server, _) = accepted.expect("a connection: not within 10 s").unwrap();
    (client, server)
}

async fn connect(proxy: &Proxy) -> TcpStream {
    TcpStream::connect((Ipv4Addr::LOCALHOST, proxy.port()))
        .await
        .unwrap()
}

async fn send(stream: &mut TcpStream, text: &str) {
    stream.write_all(text.as_bytes()).await.unwrap();
}

async fn receives(stream: &mut TcpStream, text: &str) {
    let mut bytes = vec![0; text.len()];
    let read = timeout(LIMIT, stream.read_exact(&mut bytes)).await;
    read.expect("its bytes: not within 10 s").unwrap();
    assert_eq!(bytes, text.as_bytes());
}

async fn is_silent(stream: &mut TcpStream) -> bool {
    timeout(A_MOMENT, stream.read(&mut [0])).await.is_err()
}

#[tokio::test]
async fn what_passes_is_counted_each_way() {
    let (mut client, proxy, mut server) = pair().await;
    send(&mut client, "ping!").await;
    receives(&mut server, "ping!").await;
    send(&mut server, "pong").await;
    receives(&mut client, "pong").await;
    let counts = proxy.counts();
    assert_eq!((counts.sent, counts.received), (5, 4));
    assert_eq!((counts.open, counts.connections), (1, 1));
}

#[tokio::test]
async fn an_end_is_passed_on_and_no_longer_counted_as_open() {
    let (client, proxy, mut server) = pair().await;
    drop(client);
    assert_eq!(server.read(&mut [0]).await.unwrap(), 0);
    drop(server);
    let closed = async {
        while proxy.counts().open > 0 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    let closed = timeout(LIMIT, closed).await;
    closed.expect("it is closed: not within 10 s");
    assert_eq!(proxy.counts().connections, 1);
}

#[tokio::test]
async fn a_delay_is_paid_each_way_and_keeps_the_order() {
    let (mut client, proxy, mut server) = pair().await;
    proxy.delay(Duration::from_millis(100));
    let begun = Instant::now();
    send(&mut client, "a").await;
    send(&mut client, "b").await;
    receives(&mut server, "ab").await;
    assert!(begun.elapsed() >= Duration::from_millis(100));
    send(&mut server, "c").await;
    receives(&mut client, "c").await;
    assert!(begun.elapsed() >= Duration::from_millis(200));
}

#[tokio::test]
async fn a_black_hole_is_silent_and_gives_everything_back_once_healed() {
    let (mut client, proxy, mut server) = pair().await;
    proxy.blackhole();
    send(&mut client, "ask").await;
    send(&mut server, "tell").await;
    let mut new = connect(&proxy).await;
    assert!(is_silent(&mut server).await && is_silent(&mut client).await);
    assert!(is_silent(&mut new).await);
    proxy.heal();
    receives(&mut server, "ask").await;
    receives(&mut client, "tell").await;
}

#[tokio::test]
async fn the_proxy_swallows_replies() {
    let (mut client, proxy, mut server) = pair().await;
    proxy.drop_replies();
    send(&mut client, "ask").await;
    receives(&mut server, "ask").await;
    send(&mut server, "lost").await;
    assert!(is_silent(&mut client).await);
    proxy.heal();
    send(&mut server, "torn").await;
    assert!(is_silent(&mut client).await);
}

#[tokio::test]
async fn a_reset_reaches_both_sides_and_lets_new_ones_in() {
    let (proxy, listener) = nobody_yet().await;
    let (mut client, mut server) = through(&proxy, &listener).await;
    proxy.reset();
    for stream in [&mut client, &mut server] {
        let end = timeout(LIMIT, stream.read(&mut [0])).await;
        let end = end.expect("its end: not within 10 s");
        assert_eq!(end.unwrap_err().kind(), ErrorKind::ConnectionReset);
    }
    let (mut client, mut server) = through(&proxy, &listener).await;
    send(&mut client, "again").await;
    receives(&mut server, "again").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn statements_are_counted_when_they_reach_the_server() {
    let server = server();
    let proxy = Proxy::start(server.port()).await.unwrap();
    let url = server.url_at("127.0.0.1", proxy.port());
    assert_eq!(sql(&url, "select 'Q'").unwrap(), "Q");
    assert_eq!(proxy.statements(), 1);
    assert_eq!(sql(&url, "select 2").unwrap(), "2");
    assert_eq!(proxy.statements(), 2);
    assert_eq!(proxy.counts().connections, 2);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_statement_whose_reply_is_swallowed_was_carried_out() {
    let server = server();
    server.sql("create table done (x int)").unwrap();
    let proxy = Proxy::start(server.port()).await.unwrap();
    let url = server.url_at("127.0.0.1", proxy.port());
    let slowly = "select pg_sleep(0.5); insert into done values (1)";
    let client = tokio::task::spawn_blocking(move || sql(&url, slowly));
    eventually("the statement", || proxy.statements() == 1);
    proxy.drop_replies();
    eventually("its effect", || {
        server.sql("select * from done").unwrap() == "1"
    });
    assert!(!client.is_finished());
    proxy.reset();
    assert!(client.await.unwrap().is_err());
}
