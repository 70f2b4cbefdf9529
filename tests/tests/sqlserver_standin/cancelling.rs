//! Requests and sessions that end before their time.

use crate::guest::{Guest, SOON, asking, getting, server};
use lockwork_conformance::within;
use std::time::Duration;
use tiberius::error::Error;
use tokio::time::timeout;

/// Begins to ask, and stops listening after a while. Whether an answer came before.
async fn ask_for(guest: &mut Guest, sql: &str, wait: Duration) -> bool {
    let asking = async {
        guest
            .client
            .simple_query(sql)
            .await
            .unwrap()
            .into_results()
            .await
    };
    timeout(wait, asking).await.is_ok()
}

#[tokio::test]
async fn attention_ends_a_wait_and_leaves_nothing() {
    let server = server();
    let (mut holder, mut waiter) = (Guest::of(&server).await, Guest::of(&server).await);
    holder.get("a", "Exclusive", 0).await;
    let sql = getting("a", "Exclusive", -1);
    assert!(!ask_for(&mut waiter, &sql, Duration::from_millis(60)).await);
    holder.until_waiting(1).await;
    within(SOON, "the end of the wait", waiter.client.cancel_query())
        .await
        .unwrap();
    assert_eq!(holder.waiters().await, 0);
    assert_eq!(waiter.mode("a").await, "NoLock");
    holder.release("a").await;
    assert_eq!(waiter.mode("a").await, "NoLock");
    assert_eq!(waiter.get("a", "Exclusive", 0).await, 0);
}

#[tokio::test]
async fn attention_ends_a_delay_and_a_loop() {
    let server = server();
    let mut guest = Guest::of(&server).await;
    for sql in ["WAITFOR DELAY '00:01:00'", "WHILE 1 = 1 PRINT 'on'"] {
        assert!(!ask_for(&mut guest, sql, Duration::from_millis(40)).await);
        within(SOON, "its end", guest.client.cancel_query())
            .await
            .unwrap();
        assert_eq!(guest.int("SELECT 1").await, 1);
    }
}

#[tokio::test]
async fn attention_between_requests_is_answered() {
    let server = server();
    let mut guest = Guest::of(&server).await;
    assert_eq!(guest.int("SELECT 1").await, 1);
    within(SOON, "an answer", guest.client.cancel_query())
        .await
        .unwrap();
    assert_eq!(guest.int("SELECT 2").await, 2);
}

#[tokio::test]
async fn a_grant_and_attention_at_once_leave_a_lock_or_none() {
    let server = server();
    let (mut holder, mut watcher) = (Guest::of(&server).await, Guest::of(&server).await);
    let mut waiter = Guest::of(&server).await;
    let mut session = waiter.session().await;
    let sql = getting("a", "Exclusive", -1);
    let (mut held, mut free, mut late) = (0, 0, 0);
    for round in 0..200_u64 {
        // What a connection held that was given up is free soon.
        assert!(holder.get("a", "Exclusive", -1).await >= 0);
        assert!(!ask_for(&mut waiter, &sql, Duration::from_millis(1)).await);
        watcher.until_waiting(1).await;
        let releasing = async {
            tokio::time::sleep(Duration::from_micros(round % 10 * 40)).await;
            holder.release("a").await
        };
        let cancelling = async {
            tokio::time::sleep(Duration::from_micros((round + 5) % 10 * 40)).await;
            waiter.client.cancel_query().await
        };
        let both = async { tokio::join!(releasing, cancelling) };
        let (released, cancelled) = within(SOON, "both", both).await;
        assert_eq!(released, 0);
        let shown = watcher
            .int(&format!(
                "SELECT COUNT(*) FROM sys.dm_tran_locks WHERE resource_type = 'APPLICATION' AND \
                 request_session_id = {session}"
            ))
            .await;
        if cancelled.is_err() {
            // The answer was whole before: the client gives up on such a connection.
            waiter = Guest::of(&server).await;
            session = waiter.session().await;
            late += 1;
            continue;
        }
        match waiter.mode("a").await.as_str() {
            "NoLock" => {
                assert_eq!(shown, 0);
                free += 1;
            }
            "Exclusive" => {
                assert_eq!(shown, 1);
                held += 1;
                waiter.release("a").await;
            }
            other => panic!("{other}"),
        }
    }
    assert!(free > 0, "{held} held, {free} free, {late} late");
}

#[tokio::test]
async fn a_connection_that_ends_takes_its_locks_with_it() {
    let server = server();
    let (mut watcher, mut holder) = (Guest::of(&server).await, Guest::of(&server).await);
    holder.get("a", "Exclusive", 0).await;
    holder.get("a", "Exclusive", 0).await;
    let waiting = asking(Guest::of(&server).await, "a", "Exclusive", -1);
    watcher.until_waiting(1).await;
    drop(holder);
    assert_eq!(within(SOON, "the grant", waiting).await.unwrap().0, 1);
}

#[tokio::test]
async fn a_connection_that_ends_while_it_waits_leaves_no_place_in_line() {
    let server = server();
    let (mut holder, mut waiter) = (Guest::of(&server).await, Guest::of(&server).await);
    holder.get("a", "Exclusive", 0).await;
    let sql = getting("a", "Exclusive", -1);
    ask_for(&mut waiter, &sql, Duration::from_millis(20)).await;
    holder.until_waiting(1).await;
    let before = holder
        .int("SELECT COUNT(*) FROM sys.dm_exec_sessions")
        .await;
    drop(waiter);
    holder.until_waiting(0).await;
    assert_eq!(
        holder
            .int("SELECT COUNT(*) FROM sys.dm_exec_sessions")
            .await,
        before - 1
    );
    holder.release("a").await;
    assert_eq!(holder.get("a", "Exclusive", 0).await, 0);
}

#[tokio::test]
async fn a_session_can_be_killed() {
    let server = server();
    let (mut sa, mut idle) = (Guest::of(&server).await, Guest::of(&server).await);
    idle.get("a", "Exclusive", 0).await;
    let session = idle.session().await;
    sa.run(&format!("KILL {session}")).await;
    assert!(sa.get("a", "Exclusive", 5000).await >= 0);
    assert!(idle.try_rows("SELECT 1").await.is_err());
}

#[tokio::test]
async fn a_session_can_be_killed_while_it_waits() {
    let server = server();
    let (mut sa, mut waiter) = (Guest::of(&server).await, Guest::of(&server).await);
    sa.get("a", "Exclusive", 0).await;
    let session = waiter.session().await;
    let sql = getting("a", "Exclusive", -1);
    let waiting = tokio::spawn(async move { waiter.try_rows(&sql).await });
    sa.until_waiting(1).await;
    sa.run(&format!("KILL {session}")).await;
    match within(SOON, "its end", waiting).await.unwrap() {
        Err(Error::Server(error)) => assert_eq!(error.code(), 596),
        other => panic!("{other:?}"),
    }
    sa.until_waiting(0).await;
}

#[tokio::test]
async fn not_everybody_can_be_killed() {
    let server = server();
    let mut sa = Guest::of(&server).await;
    let own = sa.session().await;
    assert_eq!(sa.error(&format!("KILL {own}")).await.code(), 6104);
    assert_eq!(sa.error("KILL 9999").await.code(), 6106);
    sa.run("CREATE LOGIN ann WITH PASSWORD = 'ann'").await;
    let mut ann = Guest::named(&server, "ann", "ann", "").await;
    assert_eq!(ann.error(&format!("KILL {own}")).await.code(), 6102);
    sa.run("GRANT ALTER ANY CONNECTION TO ann").await;
    assert_eq!(ann.error("KILL 9999").await.code(), 6106);
}
