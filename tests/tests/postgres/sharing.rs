//! What others in the same database feel of locks: nothing.

use crate::{SOON, client, server, somebody_waits, until, within};
use std::time::{Duration, Instant};

#[tokio::test]
async fn contention_writes_nothing_to_the_servers_log() {
    let server = server(&[
        ("log_min_messages", "warning"),
        ("log_min_error_statement", "error"),
    ]);
    let (here, there) = (client(&server.url()).await, client(&server.url()).await);
    let before = server.log().len();
    for round in 0..20 {
        let guard = here.mutex("x").lock().await.unwrap();
        assert!(there.mutex("x").try_lock().await.unwrap().is_none());
        let short = there
            .mutex("x")
            .try_lock_for(Duration::from_millis(20))
            .await;
        assert!(short.unwrap().is_none());
        let reader = there.rw_lock("x").read().await.unwrap();
        assert!(here.rw_lock("x").try_write().await.unwrap().is_none());
        drop((guard, reader, round));
    }
    let log = server.log();
    assert_eq!(&log[before..], "", "the log has grown");
}

#[tokio::test]
async fn whoever_waits_or_holds_keeps_no_old_rows_alive_and_blocks_no_index() {
    let server = server(&[]);
    let (here, there) = (client(&server.url()).await, client(&server.url()).await);
    server
        .sql("CREATE TABLE t AS SELECT generate_series(1, 1000) AS n")
        .unwrap();
    let guard = here.mutex("x").lock().await.unwrap();
    let waiting = tokio::spawn({
        let mutex = there.mutex("x");
        async move { mutex.lock().await.unwrap() }
    });
    until(SOON, "it waits", || somebody_waits(&server)).await;
    let oldest = "SELECT coalesce(max(extract(epoch FROM clock_timestamp() - xact_start)), 0) \
                  FROM pg_stat_activity WHERE application_name LIKE 'lockwork/%' \
                    AND backend_xmin IS NOT NULL";
    let mut worst: f64 = 0.0;
    for _ in 0..20 {
        let age: f64 = server.sql(oldest).unwrap().trim().parse().unwrap();
        worst = worst.max(age);
    }
    let start = Instant::now();
    server.sql("CREATE INDEX CONCURRENTLY i ON t (n)").unwrap();
    println!(
        "nobody who waits kept rows for longer than {worst} s; an index was made beside in {:?}",
        start.elapsed()
    );
    assert!(worst < 1.0, "rows were kept for {worst} s, allowed 1 s");
    guard.release().await.unwrap();
    drop(within(SOON, "the waiter gets in", waiting).await.unwrap());
}

#[tokio::test]
async fn operators_see_who_holds_what() {
    let server = server(&[]);
    let locks = client(&server.url()).await;
    let _guard = locks.mutex("x").lock().await.unwrap();
    let told = client(&server.url())
        .await
        .mutex("x")
        .holders()
        .await
        .unwrap();
    let client = told.holders[0].client.as_deref().unwrap();
    let process = format!("/{} ", std::process::id());
    assert!(
        client.starts_with("lockwork/") && client.contains(&process),
        "{client}"
    );
}
