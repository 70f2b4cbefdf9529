//! Locks that are shared with .NET's DistributedLock, which calls as `Guest::get_as_dot_net` does.

use crate::{SOON, place::Place, wait_for, within};

/// Of 300 times the letter x: its beginning, and its SHA-512 in Base64, computed apart from our own code.
fn shortened() -> String {
    "x".repeat(167)
        + "DcJArkOxjurO9NfY1kuUWt5DyYm3JNfHBiqAKfM0PKoyK5+/Qtn/DNqY89esWlYMohmy5zzAQfNwUt+k6ErmJA=="
}

#[tokio::test]
async fn mutexes_exclude_those_of_dot_net_and_are_excluded() {
    let place = Place::sql_server();
    let ours = place.client_with("tenure=0s&compat=medallion").await;
    let mut theirs = place.guest().await;
    let mut looks = place.guest().await;
    let (long, shortened) = ("x".repeat(300), shortened());
    assert_eq!(shortened.len(), 255);
    for (name, resource) in [("invoices/1", "invoices/1"), (&long, &shortened)] {
        assert_eq!(theirs.get_as_dot_net(resource, "Exclusive", 0).await, 0);
        assert!(ours.mutex(name).try_lock().await.unwrap().is_none());
        let waiting = wait_for(&ours, name);
        looks.until_waiting(1).await;
        theirs.release_as_dot_net(resource).await;
        let (guard, _) = within(SOON, "we get in", waiting).await.unwrap();
        assert_eq!(theirs.get_as_dot_net(resource, "Exclusive", 0).await, -1);
        let call = theirs.get_as_dot_net(resource, "Exclusive", -1);
        let (code, released) = tokio::join!(call, async {
            looks.until_waiting(1).await;
            guard.release().await
        });
        released.unwrap();
        assert_eq!(code, 1, "granted after waiting");
        theirs.release_as_dot_net(resource).await;
    }
    looks.until_nothing_is_left().await;
}

#[tokio::test]
async fn readers_and_writers_are_shared_with_dot_net() {
    let place = Place::sql_server();
    let ours = place.client_with("tenure=0s&compat=medallion").await;
    let mut theirs = place.guest().await;
    let reader = ours.rw_lock("x").read().await.unwrap();
    assert_eq!(theirs.get_as_dot_net("x", "Shared", 0).await, 0);
    theirs.release_as_dot_net("x").await;
    assert_eq!(theirs.get_as_dot_net("x", "Exclusive", 0).await, -1);
    reader.release().await.unwrap();
    assert_eq!(theirs.get_as_dot_net("x", "Exclusive", 0).await, 0);
    assert!(ours.rw_lock("x").try_read().await.unwrap().is_none());
    theirs.release_as_dot_net("x").await;
    let writer = ours.rw_lock("x").write().await.unwrap();
    assert_eq!(theirs.get_as_dot_net("x", "Shared", 0).await, -1);
    writer.release().await.unwrap();
}
