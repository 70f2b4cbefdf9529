//! Sessions and servers that end, in every way they can.

use crate::{SOON, advisory_locks, client, server, sessions, somebody_waits, until, within};
use lockwork::ErrorKind;
use std::time::{Duration, Instant};

const END_ALL: &str = "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity \
                       WHERE application_name LIKE 'lockwork/%'";

#[tokio::test]
async fn every_guard_of_a_session_that_was_ended_is_told_at_once() {
    let server = server(&[]);
    let locks = client(&server.url()).await;
    let mut guards = Vec::new();
    for name in 0..100 {
        guards.push(locks.mutex(name.to_string()).lock().await.unwrap());
    }
    let start = Instant::now();
    server.sql(END_ALL).unwrap();
    for guard in &guards {
        within(Duration::from_millis(250), "the loss is told", guard.lost()).await;
        assert!(!guard.is_valid());
    }
    println!("100 guards were told after {:?}", start.elapsed());
    let again = within(SOON, "it is free again", locks.mutex("7").lock()).await;
    let again = again.unwrap();
    assert!(again.token() > guards[7].token());
    let released = guards.pop().unwrap().release().await;
    assert_eq!(released.unwrap_err().kind(), ErrorKind::Lost);
}

#[tokio::test]
async fn a_waiter_outlives_the_end_of_its_session() {
    let server = server(&[]);
    let (here, there) = (client(&server.url()).await, client(&server.url()).await);
    let guard = here.mutex("x").lock().await.unwrap();
    let waiting = tokio::spawn({
        let mutex = there.mutex("x");
        async move { mutex.lock().await }
    });
    until(SOON, "it waits", || somebody_waits(&server)).await;
    // Both sessions: the holder's too.
    server.sql(END_ALL).unwrap();
    let next = within(SOON, "the waiter gets in", waiting).await.unwrap();
    assert!(next.unwrap().token() > guard.token());
}

#[tokio::test]
async fn a_server_that_was_killed_loses_every_lock_and_no_number() {
    let server = server(&[]);
    let locks = client(&server.url()).await;
    let mut last = None;
    for _ in 0..3 {
        let guard = within(SOON, "a lock", take(&locks)).await;
        assert!(guard.token() > last, "{:?} after {last:?}", guard.token());
        last = guard.token();
        server.kill().unwrap();
        within(Duration::from_millis(250), "the loss is told", guard.lost()).await;
        let refused = locks.mutex("y").try_lock().await.unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::Unavailable, "{refused}");
        server.restart().unwrap();
    }
}

/// The lock, however long the server takes to come back.
async fn take(locks: &lockwork::Locks) -> lockwork::Guard {
    loop {
        match locks.mutex("x").lock().await {
            Ok(guard) => return guard,
            Err(error) => assert!(error.is_transient(), "{error}"),
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

#[tokio::test]
async fn a_frozen_server_is_not_waited_for_and_keeps_nothing_once_it_thaws() {
    let server = server(&[]);
    let locks = client(&server.url()).await;
    let guard = locks.mutex("x").lock().await.unwrap();
    server.freeze().unwrap();
    let start = Instant::now();
    let refused = within(
        Duration::from_secs(12),
        "an answer",
        locks.mutex("y").try_lock(),
    )
    .await;
    assert_eq!(refused.unwrap_err().kind(), ErrorKind::Unavailable);
    println!("a frozen server was given up after {:?}", start.elapsed());
    within(Duration::from_secs(1), "the loss is told", guard.lost()).await;
    server.thaw();
    until(SOON, "nothing is left", || advisory_locks(&server) == 0).await;
    drop(within(SOON, "a lock", take(&locks)).await);
}

#[tokio::test]
async fn a_wait_is_over_soon_after_its_deadline_although_the_server_stands_still() {
    let server = server(&[]);
    let locks = client(&server.url()).await;
    drop(locks.mutex("x").lock().await.unwrap());
    server.freeze().unwrap();
    let mutex = locks.mutex("y");
    let waiting = mutex.try_lock_for(Duration::from_millis(200));
    // Less than the session's own patience, which is 5 s.
    let waited = within(Duration::from_secs(3), "the end of the wait", waiting).await;
    assert_eq!(waited.unwrap_err().kind(), ErrorKind::Unavailable);
    server.thaw();
    drop(within(SOON, "a lock", take(&locks)).await);
    until(SOON, "nothing is left", || advisory_locks(&server) == 0).await;
}

#[tokio::test]
async fn closing_leaves_no_session_behind() {
    let server = server(&[]);
    let locks = client(&server.url()).await;
    drop(locks.mutex("x").lock().await.unwrap());
    locks.close().await;
    drop(locks);
    until(SOON, "the sessions are gone", || sessions(&server) == 0).await;
}
