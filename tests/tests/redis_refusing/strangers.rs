//! What answers is no Redis at all, or one of long ago.

use crate::{refusal, url};
use lockwork::ErrorKind::{Denied, Unavailable};
use lockwork_conformance::strangers::{HTTP, answers, stranger};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

/// Not a Redis: what version 5 answers to everything that it does not know.
async fn redis_5(mut stream: TcpStream) {
    let mut asked = [0; 1024];
    while let Ok(1..) = stream.read(&mut asked).await {
        let unknown = b"-ERR unknown command `HELLO`, with args beginning with: `3`, \r\n";
        if stream.write_all(unknown).await.is_err() {
            return;
        }
    }
}

#[tokio::test]
async fn a_redis_without_users_and_pushes_is_too_old() {
    let port = stranger(redis_5).await;
    refusal::expect(&url(port, "admin"), Denied, "is too old").await;
}

#[tokio::test]
async fn a_web_server_is_none() {
    let port = stranger(|stream| answers(stream, HTTP.to_vec())).await;
    refusal::expect(&url(port, "admin"), Unavailable, "check host and port").await;
    let encrypted = url(port, "admin").replacen("redis", "rediss", 1);
    refusal::expect(&encrypted, Unavailable, "whether TLS is on").await;
}

#[tokio::test]
async fn random_bytes_are_none() {
    for _ in 0..16 {
        let port = stranger(|stream| {
            // No kind of answer begins so.
            let first = [rand::random_range(b'a'..=u8::MAX)];
            let rest = (0..1000).map(|_| rand::random());
            answers(stream, first.into_iter().chain(rest).collect())
        })
        .await;
        refusal::expect(&url(port, "admin"), Unavailable, "check host and port").await;
    }
}

#[tokio::test]
async fn nonsense_after_a_polite_beginning_is_none() {
    for beginning in [
        &b"+OK\r\n"[..],
        b"%1\r\n+proto\r\n:3\r\n",
        b":1\r\n",
        b"$-1\r\n",
    ] {
        let words = [beginning, HTTP].concat();
        let port = stranger(move |stream| answers(stream, words.clone())).await;
        refusal::expect(&url(port, "admin"), Unavailable, "check host and port").await;
    }
}

#[tokio::test]
async fn one_who_hangs_up_cannot_be_reached() {
    let port = stranger(async |stream| drop(stream)).await;
    for scheme in ["redis", "rediss", "redis+cluster", "redis+sentinel"] {
        let url = url(port, "admin").replacen("redis", scheme, 1);
        let name = if scheme.ends_with("sentinel") {
            "/name"
        } else {
            ""
        };
        refusal::expect(&format!("{url}{name}"), Unavailable, "check host").await;
    }
}

#[tokio::test]
async fn half_an_answer_is_none() {
    let halves = [&b"%2\r\n+server\r\n+redis\r\n+pro"[..], b"$100\r\nabc"];
    // Whether it hangs up or stays silent after that.
    let hangs_up = async |half: &'static [u8]| {
        let port = stranger(async move |mut stream: TcpStream| {
            let _ = stream.read(&mut [0; 1024]).await;
            let _ = stream.write_all(half).await;
        })
        .await;
        refusal::expect(&url(port, "admin"), Unavailable, "check host and port").await;
    };
    let stays = async |half: &'static [u8]| {
        let port = stranger(move |stream| answers(stream, half.to_vec())).await;
        refusal::expect(&url(port, "admin"), Unavailable, "").await;
    };
    let [one, two] = halves;
    tokio::join!(hangs_up(one), hangs_up(two), stays(one), stays(two));
}
