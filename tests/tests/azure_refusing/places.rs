//! Accounts that are not where the URL says.

use crate::{ACCOUNT, KEY, canary::CANARY, refusal, refused};
use lockwork::{ErrorKind, azure::Options};

#[tokio::test]
async fn nobody_listens_there() {
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = free.local_addr().unwrap().port();
    drop(free);
    let url = format!("azblob+http://127.0.0.1:{port}/{ACCOUNT}/locks?sv=2022-11-02&sig={CANARY}");
    refusal::expect(&url, ErrorKind::Unavailable, "cannot be reached").await;
}

#[tokio::test]
async fn somebody_else_listens_there() {
    let stranger = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = stranger.local_addr().unwrap().port();
    let answering = tokio::spawn(async move {
        loop {
            let (stream, _) = stranger.accept().await.unwrap();
            // Hangs up without a word.
            drop(stream);
        }
    });
    let url = format!("azblob+http://127.0.0.1:{port}/{ACCOUNT}/locks?sv=2022-11-02&sig={CANARY}");
    refusal::expect(
        &url,
        ErrorKind::Unavailable,
        "broke before there was an answer",
    )
    .await;
    answering.abort();
}

#[tokio::test]
async fn a_server_without_encryption_where_that_is_wanted() {
    let port = crate::port();
    let url = format!("azblob+https://127.0.0.1:{port}/{ACCOUNT}/locks?sv=2022-11-02&sig={CANARY}");
    refusal::expect(&url, ErrorKind::Unavailable, "cannot be reached").await;
}

#[tokio::test]
async fn a_network_without_encryption_is_refused() {
    let there = Options::at("http://blobs.example.com", "orders", "locks").unwrap();
    let error = refused(there.sas(format!("sv=1&sig={CANARY}"))).await;
    refusal::is(&error, ErrorKind::Invalid, "without encryption");
    let here = Options::at("http://127.0.0.1:1", "orders", "locks").unwrap();
    let error = refused(here).await;
    refusal::is(&error, ErrorKind::Invalid, "over https only");
}

#[tokio::test]
async fn an_account_that_is_not_there_is_denied() {
    let endpoint = format!("http://127.0.0.1:{}/nobody", crate::port());
    let options = Options::at(&endpoint, "nobody", "locks").unwrap();
    let error = refused(options.shared_key(KEY)).await;
    assert_eq!(error.kind(), ErrorKind::Denied, "{error}");
}
