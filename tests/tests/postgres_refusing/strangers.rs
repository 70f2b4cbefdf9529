//! What answers is no PostgreSQL at all.

use crate::{refusal, url};
use lockwork::ErrorKind::Unavailable;
use lockwork_conformance::strangers::{HTTP, says, stranger};

async fn expect_all(port: u16, words: &str) {
    for mode in ["prefer", "require", "verify-full", "disable"] {
        let url = format!("{}?sslmode={mode}", url(port, "admin", "postgres"));
        refusal::expect(&url, Unavailable, words).await;
    }
}

#[tokio::test]
async fn a_web_server_is_none() {
    let port = stranger(|stream| says(stream, HTTP.to_vec())).await;
    expect_all(port, "check host and port").await;
}

#[tokio::test]
async fn random_bytes_are_none() {
    for _ in 0..8 {
        let port = stranger(|stream| {
            // "No TLS" and "TLS" are no nonsense, and have a test of their own.
            let first = [rand::random_range(b'T'..=u8::MAX)];
            let rest = (0..1000).map(|_| rand::random());
            says(stream, first.into_iter().chain(rest).collect())
        })
        .await;
        expect_all(port, "check host and port").await;
    }
}

#[tokio::test]
async fn nonsense_after_a_polite_beginning_is_none() {
    for beginning in [
        &b"S"[..],
        b"N",
        b"R\x7f\xff\xff\xff\0\0\0\0",
        b"R\0\0\0\x08\0\0\0\0",
    ] {
        let words = [beginning, HTTP].concat();
        let port = stranger(move |stream| says(stream, words.clone())).await;
        let url = url(port, "admin", "postgres");
        refusal::expect(&url, Unavailable, "check host and port").await;
    }
}

#[tokio::test]
async fn one_who_stays_silent_is_given_up() {
    let port = stranger(|stream| says(stream, Vec::new())).await;
    let url = url(port, "admin", "postgres");
    refusal::expect(&url, Unavailable, "does not answer").await;
}

#[tokio::test]
async fn one_who_hangs_up_cannot_be_reached() {
    let port = stranger(async |stream| drop(stream)).await;
    expect_all(port, "check host and port").await;
}
