//! Blobs that are not ours, and answers that nobody expects.

use crate::{Place, SOON, lock, weather::Fault};
use lockwork::{
    ErrorKind,
    azure::{
        azure_core::http::RequestContent, azure_storage_blob::models::BlobClientUploadOptions,
    },
};
use std::{collections::HashMap, time::Duration};

#[tokio::test]
async fn a_strangers_blob_in_the_place_of_a_lock_is_never_written_to() {
    let place = Place::new().await;
    let locks = place.client().await;
    lock(&locks).await.release().await.unwrap();
    let blob = place.container.blob_client(&place.blob().await);
    let theirs = BlobClientUploadOptions {
        metadata: Some(HashMap::from([(
            "author".to_owned(),
            "somebody".to_owned(),
        )])),
        ..BlobClientUploadOptions::default()
    };
    let content = RequestContent::from(b"theirs".to_vec());
    blob.upload(content, Some(theirs)).await.unwrap();
    let newcomer = place.client().await;
    // As if it had been missing a moment ago, so that one of them creates what is there.
    let missing = Fault::Answer(404, "BlobNotFound", &[]);
    place.weather.next("look", missing);
    place.weather.asked();
    for locks in [newcomer, locks, place.other().await] {
        let error = locks.mutex("x").lock().await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Invalid, "{error}");
        assert!(
            error.to_string().contains("no lock of lockwork's"),
            "{error}"
        );
    }
    let asked = place.weather.asked();
    assert!(asked.contains(&"create"), "{asked:?}");
    let found = blob.download(None).await.unwrap();
    let body = found.body.collect().await.unwrap();
    assert_eq!(&body[..], b"theirs");
    place.nothing_left(Duration::from_secs(1)).await;
}

#[tokio::test]
async fn a_blob_that_somebody_else_creates_in_between_is_theirs() {
    let place = Place::new().await;
    let (locks, other) = (place.client().await, place.other().await);
    // As if it had been missing a moment ago.
    let held = lock(&other).await;
    place
        .weather
        .next("look", Fault::Answer(404, "BlobNotFound", &[]));
    assert!(locks.mutex("x").try_lock().await.unwrap().is_none());
    let asked = place.weather.asked();
    assert!(asked.ends_with(&["look", "create", "look"]), "{asked:?}");
    assert!(held.is_valid());
    held.release().await.unwrap();
    lock(&locks).await.release().await.unwrap();
}

#[tokio::test]
async fn every_refusal_has_a_kind_and_a_sentence() {
    let place = Place::new().await;
    let locks = place.client().await;
    let skewed: &[_] = &[("date", "Mon, 16 Nov 2020 21:00:00 GMT")];
    for (status, code, headers, kind, words) in [
        (
            403,
            "AuthenticationFailed",
            &[][..],
            ErrorKind::Denied,
            "does not accept the credentials",
        ),
        (
            403,
            "AuthenticationFailed",
            skewed,
            ErrorKind::Denied,
            "clock of this machine",
        ),
        (
            403,
            "AuthorizationPermissionMismatch",
            &[],
            ErrorKind::Denied,
            "under Rights",
        ),
        (
            403,
            "KeyBasedAuthenticationNotPermitted",
            &[],
            ErrorKind::Denied,
            "Entra ID",
        ),
        (403, "", &[], ErrorKind::Denied, "check credentials"),
        (
            404,
            "ContainerNotFound",
            &[],
            ErrorKind::Denied,
            "container does not exist",
        ),
        (
            409,
            "ContainerBeingDeleted",
            &[],
            ErrorKind::Denied,
            "container does not exist",
        ),
        (
            409,
            "BlobImmutableDueToPolicy",
            &[],
            ErrorKind::Denied,
            "immutability",
        ),
        (
            400,
            "InvalidHeaderValue",
            &[],
            ErrorKind::Unexpected,
            "report it",
        ),
        (302, "", &[], ErrorKind::Unexpected, "report it"),
    ] {
        place
            .weather
            .next("look", Fault::Answer(status, code, headers));
        let error = locks.mutex("x").lock().await.unwrap_err();
        println!("{status} {code}: {error}");
        assert_eq!(error.kind(), kind, "{error}");
        assert!(!error.is_transient());
        assert!(error.to_string().contains(words), "{error}");
    }
}

#[tokio::test]
async fn a_server_in_trouble_is_tried_again_and_then_unavailable() {
    let place = Place::new().await;
    let locks = place.client().await;
    for (status, code, tries) in [
        (500, "InternalError", 2),
        (502, "", 2),
        (503, "", 4),
        (429, "", 4),
    ] {
        for _ in 0..tries {
            place.weather.next("look", Fault::Answer(status, code, &[]));
        }
        place.weather.asked();
        let mutex = locks.mutex(status.to_string());
        let error = mutex.lock().await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unavailable, "{error}");
        assert!(error.is_transient());
        assert_eq!(place.weather.asked().len(), tries, "{status}");
        let goes_on = lockwork_conformance::within(SOON, "it goes on", mutex.lock()).await;
        goes_on.unwrap().release().await.unwrap();
    }
}
