//! Shared access signatures: of which one works, and the others are refused in words that help.

use crate::{ACCOUNT, KEY, canary, canary::CANARY, container, options, refusal, refused};
use lockwork::{
    ErrorKind, Locks,
    azure::azure_core::{credentials::Secret, hmac::hmac_sha256},
};
use url::form_urlencoded;

/// A signature of the account, for blobs in containers: with these rights, until then.
fn signature(rights: &str, until: &str) -> String {
    let (version, services, types) = ("2022-11-02", "b", "sco");
    let text =
        format!("{ACCOUNT}\n{rights}\n{services}\n{types}\n\n{until}\n\nhttps,http\n{version}\n\n");
    let signed = hmac_sha256(&text, &Secret::new(KEY)).unwrap();
    let mut query = form_urlencoded::Serializer::new(String::new());
    for (name, value) in [
        ("sv", version),
        ("ss", services),
        ("srt", types),
        ("sp", rights),
        ("se", until),
        ("spr", "https,http"),
        ("sig", &signed),
    ] {
        query.append_pair(name, value);
    }
    query.finish()
}

const LATER: &str = "2099-01-01T00:00:00Z";

#[tokio::test]
async fn a_signature_with_read_create_and_write_is_enough() {
    canary::listen();
    let name = container().await;
    let signature = signature("rcwl", LATER);
    let locks = Locks::new(options(&name).sas(&signature).connect().await.unwrap());
    let guard = locks.mutex("x").lock().await.unwrap();
    assert!(guard.token().is_some());
    guard.release().await.unwrap();
    let permit = locks.semaphore("s", 2).acquire().await.unwrap();
    permit.release().await.unwrap();
    assert_eq!(locks.mutex("x").holders().await.unwrap().holders.len(), 0);
    let (_, sig) = signature.split_once("sig=").unwrap();
    assert!(!canary::log().contains(sig), "the signature was logged");
}

#[tokio::test]
async fn a_url_takes_a_signature_among_its_options() {
    let name = container().await;
    let (port, signature) = (crate::port(), signature("rcwl", LATER));
    let url = format!("azblob+http://127.0.0.1:{port}/{ACCOUNT}/{name}?{signature}&lease=20s");
    let locks = lockwork::connect(&url).await.unwrap();
    locks
        .mutex("x")
        .lock()
        .await
        .unwrap()
        .release()
        .await
        .unwrap();
}

#[tokio::test]
async fn an_expired_signature_is_denied() {
    let name = container().await;
    let error = refused(options(&name).sas(signature("rcwl", "2020-01-01T00:00:00Z"))).await;
    refusal::is(&error, ErrorKind::Denied, "expired");
}

#[tokio::test]
async fn a_forged_signature_is_denied_and_not_shown() {
    let name = container().await;
    let forged = format!("sv=2022-11-02&ss=b&srt=sco&sp=rcwl&se={LATER}&sig={CANARY}");
    let error = refused(options(&name).sas(forged)).await;
    refusal::is(&error, ErrorKind::Denied, "check the key");
}

#[tokio::test]
async fn what_is_no_signature_is_refused_before_it_is_used() {
    let error = refused(options("locks").sas(CANARY)).await;
    refusal::is(&error, ErrorKind::Invalid, "not a shared access signature");
}

#[tokio::test]
async fn a_signature_that_may_not_write_is_denied_when_a_lock_is_taken() {
    let name = container().await;
    let reader = options(&name).sas(signature("rl", LATER));
    let locks = Locks::new(reader.connect().await.unwrap());
    let error = locks.mutex("x").lock().await.unwrap_err();
    refusal::is(&error, ErrorKind::Denied, "under Rights");
}

#[tokio::test]
async fn a_missing_container_that_may_not_be_created_is_said_to_be_missing() {
    let error = refused(options("missing-container").sas(signature("r", LATER))).await;
    refusal::is(&error, ErrorKind::Denied, "the container does not exist");
}

#[tokio::test]
async fn who_may_not_remove_blobs_is_told_so_and_keeps_nobody_out() {
    let name = container().await;
    let locks = Locks::new(
        options(&name)
            .sas(signature("rcwl", LATER))
            .connect()
            .await
            .unwrap(),
    );
    locks
        .mutex("x")
        .lock()
        .await
        .unwrap()
        .release()
        .await
        .unwrap();
    tokio::time::sleep(std::time::Duration::from_secs(7)).await;
    let error = locks.collect(std::time::Duration::ZERO).await.unwrap_err();
    refusal::is(&error, ErrorKind::Denied, "under Rights");
    assert!(locks.mutex("x").try_lock().await.unwrap().is_some());
}
