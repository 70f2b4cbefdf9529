//! Using locks shows no password either.

use crate::{canary, shared, url};
use lockwork::postgres::Options;

#[tokio::test]
async fn neither_what_is_printed_nor_what_is_logged_has_the_password_in_it() {
    canary::listen();
    let url = url(shared().port(), "admin", "postgres");
    let locks = lockwork::connect(&url).await.unwrap();
    canary::is_not_shown_by(&locks);
    let mutex = locks.mutex("using");
    let guard = mutex.lock().await.unwrap();
    canary::is_not_shown_by(&guard);
    canary::is_not_shown_by(&mutex.holders().await.unwrap());
    canary::is_not_shown_by(&locks.doctor().await.unwrap());
    assert_eq!(mutex.break_lock("a test").await.unwrap(), 1);
    let lost = guard.lost().await;
    println!("broken: {lost:?}");
    canary::is_not_shown_by(&lost);
    canary::is_not_in_the_log();
    // The log is one that would have it.
    let log = canary::log();
    assert!(log.contains("sqlx::query"), "sqlx logs nothing");
    assert!(log.contains("pg_try_advisory_lock"), "no statement");
}

#[tokio::test]
async fn options_and_backend_are_printed_without_it() {
    let url = url(shared().port(), "admin", "postgres");
    let options = Options::new(url.parse().unwrap());
    canary::is_not_shown_by(&options);
    let postgres = options.connect().await.unwrap();
    canary::is_not_shown_by(&postgres);
    let shown = format!("{postgres:?}");
    assert!(shown.contains("127.0.0.1"), "{shown}");
}
