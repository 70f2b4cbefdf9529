//! Seeing who holds a lock, and breaking it, are rights of their own.

use crate::{SOON, canary, connect, error_of, refusal, run, somebody, works};
use lockwork::ErrorKind::Denied;
use lockwork_conformance::within;

#[tokio::test]
async fn who_may_not_see_or_break_locks_is_told_what_to_grant() {
    let url = format!("{}&tokens=false", somebody("blind"));
    let locks = connect(&url).await;
    let mutex = locks.mutex("a");
    let guard = mutex.lock().await.unwrap();
    let see = "GRANT VIEW SERVER STATE to the login";
    refusal::is(&error_of(mutex.holders()).await, Denied, see);
    refusal::is(&error_of(mutex.break_lock("a test")).await, Denied, see);
    run("master", ["GRANT VIEW SERVER STATE TO blind"]);
    let holders = within(SOON, "holders", mutex.holders()).await.unwrap();
    assert_eq!(holders.holders.len(), 1);
    canary::is_not_shown_by(&holders);
    let kill = "GRANT ALTER ANY CONNECTION to the login";
    refusal::is(&error_of(mutex.break_lock("a test")).await, Denied, kill);
    assert!(guard.is_valid());
    run("master", ["GRANT ALTER ANY CONNECTION TO blind"]);
    let broken = within(SOON, "the end", mutex.break_lock("a test")).await;
    assert_eq!(broken.unwrap(), 1);
    let lost = within(SOON, "the news", guard.lost()).await;
    canary::is_not_shown_by(&lost);
    works(&locks).await;
}
