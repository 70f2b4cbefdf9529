//! Options that cannot be.

use crate::{KEY, canary::CANARY, options, refusal, refused};
use lockwork::ErrorKind;
use std::time::Duration;

#[tokio::test]
async fn leases_that_the_server_does_not_grant_are_refused_here() {
    for millis in [0, 14_000, 14_999, 20_500, 60_001, 61_000] {
        let lease = Duration::from_millis(millis);
        let error = refused(options("locks").shared_key(KEY).lease(lease)).await;
        refusal::is(&error, ErrorKind::Invalid, "15 to 60 seconds");
    }
}

#[tokio::test]
async fn prefixes_that_make_no_names_of_blobs_are_refused() {
    for prefix in ["", "a b", "ä", "a?b", &"a".repeat(1000)] {
        let error = refused(options("locks").shared_key(KEY).prefix(prefix)).await;
        refusal::is(&error, ErrorKind::Invalid, "prefix");
    }
}

#[tokio::test]
async fn urls_that_are_wrong_are_refused_without_what_they_say() {
    let good = format!("sv=2022-11-02&sig={CANARY}");
    for (url, words) in [
        (
            format!("azblob://orders?{good}"),
            "azblob://ACCOUNT/CONTAINER",
        ),
        (
            format!("azblob://{CANARY}@orders/locks"),
            "azblob://ACCOUNT/CONTAINER",
        ),
        (
            format!("azblob://:{CANARY}@orders/locks"),
            "not the key of a storage account",
        ),
        (format!("azblob://:{CANARY}/x@orders/locks"), "%2F for a /"),
        (
            format!("azblob://orders/Locks?{good}"),
            "lower-case letters",
        ),
        (
            format!("azblob://orders/locks?{good}&lease=5s"),
            "15 to 60 seconds",
        ),
        (
            format!("azblob://orders/locks?{good}&tenor=5s"),
            "unknown option",
        ),
        (
            format!("azblob://orders/locks?{good}&auth=managed"),
            "several credentials",
        ),
        (
            format!("azblob://orders/locks?{good}&tokens=many"),
            "`metadata` or `sequence`",
        ),
        (format!("azblob://orders/locks?auth={CANARY}"), "auth is"),
        (
            format!("azblob+http://10.0.0.1/orders/locks?{good}"),
            "without encryption",
        ),
    ] {
        refusal::expect(&url, ErrorKind::Invalid, words).await;
    }
}
