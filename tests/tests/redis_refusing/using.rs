//! Using locks shows no password either.

use crate::{CANARY, canary, connect, guarded, shared, url};
use lockwork::redis::Options;
use lockwork_servers::RedisSettings;

#[tokio::test]
async fn neither_what_is_printed_nor_what_is_logged_has_the_password_in_it() {
    canary::listen();
    let locks = lockwork::connect(&url(shared().port(), "admin")).await;
    let locks = locks.unwrap();
    canary::is_not_shown_by(&locks);
    let mutex = locks.mutex("using");
    canary::is_not_shown_by(&mutex);
    let guard = mutex.lock().await.unwrap();
    canary::is_not_shown_by(&guard);
    canary::is_not_shown_by(&mutex.holders().await.unwrap());
    canary::is_not_shown_by(&locks.doctor().await.unwrap());
    assert_eq!(mutex.break_lock("a test").await.unwrap(), 1);
    let lost = guard.lost();
    let lost = tokio::time::timeout(std::time::Duration::from_secs(15), lost).await;
    println!("broken: {lost:?}");
    canary::is_not_shown_by(&lost.expect("it is told: not within 15 s"));
    canary::is_not_in_the_log();
}

#[tokio::test]
async fn what_is_logged_of_a_lost_connection_has_no_password_in_it() {
    let server = guarded(RedisSettings::new());
    let locks = connect(server.port()).await;
    let mutex = locks.mutex("lost");
    mutex.lock().await.unwrap().release().await.unwrap();
    server.ask(&["CLIENT", "KILL", "USER", "admin"]).unwrap();
    mutex.lock().await.unwrap().release().await.unwrap();
    // The log is one that would have it.
    let log = canary::log();
    assert!(log.contains("a connection to Redis was lost"), "{log}");
    canary::is_not_in_the_log();
}

#[tokio::test]
async fn options_and_backend_are_printed_without_it() {
    canary::listen();
    let one = Options::new("127.0.0.1", shared().port());
    let servers = vec![("127.0.0.1".to_owned(), shared().port())];
    for options in [
        one.clone().password(CANARY),
        Options::cluster(servers.clone()).login("admin", CANARY),
        Options::sentinel(servers, "name").login("admin", CANARY),
        one.clone().tls(None, Some((CANARY.into(), CANARY.into()))),
    ] {
        canary::is_not_shown_by(&options);
    }
    let options = one.login("admin", CANARY);
    canary::is_not_shown_by(&options);
    let redis = options.connect().await.unwrap();
    canary::is_not_shown_by(&redis);
    let shown = format!("{redis:?}");
    assert!(shown.contains("127.0.0.1"), "{shown}");
}
