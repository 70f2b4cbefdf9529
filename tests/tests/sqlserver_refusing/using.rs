//! Using locks shows no password either.

use crate::{CANARY, SOON, canary, connect, database, shared};
use lockwork::sqlserver::{
    Options, SqlServer,
    tiberius::{AuthMethod, Config},
};
use lockwork_conformance::within;

#[tokio::test]
async fn neither_what_is_printed_nor_what_is_logged_has_the_password_in_it() {
    let locks = connect(&database("using")).await;
    canary::is_not_shown_by(&locks);
    canary::is_not_shown_by(&locks.info());
    let mutex = locks.mutex("using");
    canary::is_not_shown_by(&mutex);
    let guard = mutex.lock().await.unwrap();
    canary::is_not_shown_by(&guard);
    canary::is_not_shown_by(&mutex.holders().await.unwrap());
    canary::is_not_shown_by(&locks.doctor().await.unwrap());
    assert_eq!(mutex.break_lock("a test").await.unwrap(), 1);
    let lost = within(SOON, "the news", guard.lost()).await;
    println!("broken: {lost:?}");
    canary::is_not_shown_by(&lost);
    canary::is_not_in_the_log();
    // The log is one that would have it.
    let log = canary::log();
    assert!(log.contains("tiberius"), "the driver logs nothing");
}

#[tokio::test]
async fn options_and_backend_are_printed_without_it() {
    canary::listen();
    database("printed");
    let mut config = Config::new();
    config.host("127.0.0.1");
    config.port(shared().address().port());
    config.database("printed");
    config.authentication(AuthMethod::sql_server("sa", CANARY));
    config.trust_cert();
    let options = Options::new(config);
    canary::is_not_shown_by(&options);
    let server: SqlServer = options.connect().await.unwrap();
    canary::is_not_shown_by(&server);
    let shown = format!("{server:?}");
    assert!(shown.contains("127.0.0.1"), "{shown}");
}
