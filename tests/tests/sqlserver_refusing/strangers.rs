//! What answers is no SQL Server at all.

use crate::{at, refusal};
use lockwork::ErrorKind::Unavailable;
use lockwork_conformance::{
    strangers::{HTTP, answers, says, stranger},
    within,
};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

const REDIS: &[u8] = b"-ERR unknown command\r\n";
const POSTGRES: &[u8] = b"E\0\0\0\x1fSFATAL\0C08P01\0Munsupported\0\0";
const MYSQL: &[u8] = b"J\0\0\0\x0a8.0.36\0\x08\0\0\0";

async fn expect_all(port: u16, words: &'static str) {
    let each = ["true", "strict", "login", "none"].map(async |encrypt| {
        let url = format!("{}&encrypt={encrypt}", at(port, "sa", "master"));
        refusal::expect(&url, Unavailable, words).await;
    });
    let [one, two, three, four] = each;
    tokio::join!(one, two, three, four);
}

/// And at once: nobody waits for the rest of what is none.
#[tokio::test]
async fn a_web_server_is_none_nor_is_another_database() {
    let mut asked = tokio::task::JoinSet::new();
    for words in [HTTP, REDIS, POSTGRES, MYSQL] {
        let after = stranger(|stream| answers_and_ends(stream, words)).await;
        let before = stranger(|stream| says(stream, words.to_vec())).await;
        asked.spawn(expect_all(after, "check host and port"));
        asked.spawn(expect_all(before, "check host and port"));
    }
    let limit = std::time::Duration::from_secs(4);
    within(limit, "all answers", async {
        while let Some(ended) = asked.join_next().await {
            ended.unwrap();
        }
    })
    .await;
}

async fn answers_and_ends(mut stream: TcpStream, words: &'static [u8]) {
    let _ = stream.read(&mut [0; 1024]).await;
    let _ = stream.write_all(words).await;
}

/// Some of them begin as an answer does, and are waited for.
#[tokio::test]
async fn random_bytes_are_none() {
    let mut asked = tokio::task::JoinSet::new();
    for first in [4, 0x15, 0x16]
        .into_iter()
        .chain((0..9).map(|_| rand::random()))
    {
        let port = stranger(move |stream| {
            let rest = (0..2000).map(|_| rand::random());
            answers(stream, std::iter::once(first).chain(rest).collect())
        })
        .await;
        asked.spawn(expect_all(port, "check host and port"));
    }
    while let Some(ended) = asked.join_next().await {
        ended.unwrap();
    }
}

#[tokio::test]
async fn one_who_stays_silent_is_given_up() {
    let port = stranger(|stream| says(stream, Vec::new())).await;
    let each = ["true", "strict", "none"].map(|encrypt| async move {
        let url = format!("{}&encrypt={encrypt}", at(port, "sa", "master"));
        refusal::expect(&url, Unavailable, "did not answer in time").await;
    });
    let [one, two, three] = each;
    tokio::join!(one, two, three);
}

#[tokio::test]
async fn one_who_hangs_up_is_told_apart_from_none() {
    let port = stranger(async |stream| drop(stream)).await;
    expect_all(port, "check host and port").await;
}
