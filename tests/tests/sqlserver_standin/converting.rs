//! An owner that asks again: what it has then, and how often it is to be given back.

use crate::guest::{Guest, SOON, asking, server};
use lockwork_conformance::within;

#[tokio::test]
async fn two_modes_of_one_owner_make_one() {
    let server = server();
    let mut guest = Guest::of(&server).await;
    let cases = [
        ("Shared", "Shared", "Shared"),
        ("IntentShared", "Shared", "Shared"),
        ("Shared", "IntentShared", "Shared"),
        ("Shared", "Update", "Update"),
        ("Update", "Shared", "Update"),
        ("Update", "Exclusive", "Exclusive"),
        ("Exclusive", "Shared", "Exclusive"),
        ("Shared", "IntentExclusive", "SharedIntentExclusive"),
        ("IntentExclusive", "Shared", "SharedIntentExclusive"),
        ("Update", "IntentExclusive", "UpdateIntentExclusive"),
        ("IntentExclusive", "Update", "UpdateIntentExclusive"),
        ("IntentShared", "IntentExclusive", "IntentExclusive"),
    ];
    for (first, second, both) in cases {
        assert_eq!(guest.get("a", first, 0).await, 0);
        assert_eq!(guest.get("a", second, 0).await, 0);
        assert_eq!(guest.mode("a").await, both, "{first} and {second}");
        assert_eq!(guest.release("a").await, 0);
        // The stronger mode stays until the last release.
        assert_eq!(guest.mode("a").await, both, "{first} and {second}");
        assert_eq!(guest.release("a").await, 0);
        assert_eq!(guest.mode("a").await, "NoLock");
    }
}

#[tokio::test]
async fn each_grant_is_given_back_once() {
    let server = server();
    let mut guest = Guest::of(&server).await;
    for _ in 0..3 {
        assert_eq!(guest.get("a", "Exclusive", 0).await, 0);
    }
    for _ in 0..3 {
        assert_eq!(guest.mode("a").await, "Exclusive");
        assert_eq!(guest.release("a").await, 0);
    }
    assert_eq!(guest.mode("a").await, "NoLock");
    let error = guest.error("EXEC sp_releaseapplock N'a', 'Session'").await;
    assert_eq!((error.code(), error.class()), (1223, 16));
    assert_eq!(
        error.message(),
        "Cannot release the application lock (Database Principal: 'public', Resource: 'a') because \
         it is not currently held."
    );
}

#[tokio::test]
async fn a_conversion_passes_those_who_have_nothing() {
    let server = server();
    let mut watcher = Guest::of(&server).await;
    let (mut one, mut two) = (Guest::of(&server).await, Guest::of(&server).await);
    let three = Guest::of(&server).await;
    one.get("a", "Update", 0).await;
    two.get("a", "Shared", 0).await;
    let newcomer = asking(three, "a", "Exclusive", -1);
    watcher.until_waiting(1).await;
    let conversion = asking(one, "a", "Exclusive", -1);
    watcher.until_waiting(2).await;
    let sql = "SELECT request_status FROM sys.dm_tran_locks WHERE request_status = 'CONVERT'";
    assert_eq!(watcher.rows(sql).await.len(), 1);
    two.release("a").await;
    let (code, mut one) = within(SOON, "the conversion", conversion).await.unwrap();
    assert_eq!(code, 1);
    assert!(!newcomer.is_finished());
    one.release("a").await;
    one.release("a").await;
    assert_eq!(within(SOON, "the newcomer", newcomer).await.unwrap().0, 1);
}
