//! A server without room for one more connection.

use crate::{canary, refusal, url};
use lockwork::ErrorKind::Unavailable;
use lockwork_servers::{Postgres, Settings};
use sqlx::{ConnectOptions, Connection, PgConnection, postgres::PgConnectOptions};
use std::time::{Duration, Instant};

/// Fills the server.
async fn fill(url: &str) -> Vec<PgConnection> {
    let options: PgConnectOptions = url.parse().unwrap();
    let mut all = Vec::new();
    while let Ok(connection) = options.connect().await {
        all.push(connection);
        assert!(all.len() < 20, "it has no limit");
    }
    all
}

/// Room again. The server counts a connection until its process has ended.
async fn leave(server: &Postgres, all: Vec<PgConnection>) {
    for connection in all {
        connection.close().await.unwrap();
    }
    let deadline = Instant::now() + Duration::from_secs(10);
    while server.sql("SELECT 1").is_err() {
        assert!(Instant::now() < deadline, "room again: not within 10 s");
    }
}

fn small() -> (Postgres, String) {
    let settings = Settings::new().set("max_connections", "10");
    let server = Postgres::start(settings.set("max_wal_senders", "0")).unwrap();
    let url = url(server.port(), "lockwork", "postgres");
    (server, url)
}

#[tokio::test]
async fn a_full_server_is_unavailable_until_there_is_room() {
    let (server, url) = small();
    let all = fill(&url).await;
    refusal::expect(&url, Unavailable, "no room for more connections").await;
    leave(&server, all).await;
    let locks = lockwork::connect(&url).await.unwrap();
    drop(locks.mutex("a").lock().await.unwrap());
}

/// Another connection is opened for what does not fit on the first.
#[tokio::test]
async fn a_server_that_is_full_by_now_says_so_when_a_lock_is_asked_for() {
    canary::listen();
    let (server, url) = small();
    let locks = lockwork::connect(&format!("{url}?capacity=1"))
        .await
        .unwrap();
    let first = locks.mutex("first").lock().await.unwrap();
    let all = fill(&url).await;
    let asked = Instant::now();
    let error = locks.mutex("second").lock().await.unwrap_err();
    println!("{:?} after {:.1?}: {error}", error.kind(), asked.elapsed());
    refusal::is(&error, Unavailable, "no room for more connections");
    canary::is_not_in(&error);
    leave(&server, all).await;
    let second = locks.mutex("second").lock().await.unwrap();
    assert!(first.is_valid() && second.is_valid());
}
