//! Keys that are not the account's.

use crate::{KEY, canary, canary::CANARY, container, options, refusal, refused};
use lockwork::{ErrorKind, Locks, azure::azure_core};

#[tokio::test]
async fn a_wrong_key_is_denied_and_not_shown() {
    let name = container().await;
    let key = azure_core::base64::encode(CANARY);
    let error = refused(options(&name).shared_key(&key)).await;
    refusal::is(&error, ErrorKind::Denied, "check the key");
    assert!(!format!("{error:?}").contains(&key));
    assert!(!canary::log().contains(&key));
}

#[tokio::test]
async fn a_key_that_is_none_is_refused_before_it_is_used() {
    let error = refused(options("locks").shared_key(CANARY)).await;
    refusal::is(
        &error,
        ErrorKind::Invalid,
        "not the key of a storage account",
    );
}

#[tokio::test]
async fn a_right_key_is_not_logged_either() {
    canary::listen();
    let name = container().await;
    let locks = Locks::new(options(&name).shared_key(KEY).connect().await.unwrap());
    locks
        .mutex("x")
        .lock()
        .await
        .unwrap()
        .release()
        .await
        .unwrap();
    let log = canary::log();
    assert!(
        log.contains("PUT") || log.contains("HEAD"),
        "the log is listened to"
    );
    assert!(!log.contains(&KEY[..40]), "the key was logged");
}

#[tokio::test]
async fn the_key_that_everybody_knows_is_for_this_machine_only() {
    use lockwork::azure::Options;
    let there = Options::at("https://blobs.example.com", "devstoreaccount1", "locks").unwrap();
    let error = refused(there.shared_key(KEY)).await;
    refusal::is(&error, ErrorKind::Invalid, "everybody knows");
    let text = format!("BlobEndpoint=https://blobs.example.com;AccountName=a;AccountKey={KEY}");
    let there = Options::from_connection_string(&text, "locks").unwrap();
    refusal::is(&refused(there).await, ErrorKind::Invalid, "everybody knows");
}
