//! The end of a server, and a server that stands still.

use crate::guest::{Guest, SOON, config, connect, server};
use lockwork_conformance::{
    sqlserver::{Settings, StandIn, StandInProcess},
    until, within,
};
use std::{path::Path, time::Duration};

async fn process(settings: Settings) -> StandInProcess {
    let program = Path::new(env!("CARGO_BIN_EXE_sqlserver-standin"));
    StandInProcess::start(program, settings).await
}

async fn guest(server: &StandInProcess) -> Guest {
    let config = config(server.address(), server.password());
    Guest {
        client: connect(config).await.unwrap(),
    }
}

#[tokio::test]
async fn a_process_serves_as_a_thread_does() {
    let server = process(Settings::new().with_password("it's 100 %")).await;
    let mut guest = guest(&server).await;
    assert_eq!(guest.get("a", "Exclusive", 0).await, 0);
    server.end().await;
    assert!(guest.try_rows("SELECT 1").await.is_err());
}

#[tokio::test]
async fn a_process_that_is_killed_is_gone() {
    let server = process(Settings::new()).await;
    let mut guest = guest(&server).await;
    let address = server.address();
    server.kill().await;
    assert!(guest.try_rows("SELECT 1").await.is_err());
    // Another one can take its place, and remembers nothing.
    let again = process(Settings::new().port(address.port())).await;
    assert_eq!(again.address(), address);
    assert_eq!(self::guest(&again).await.get("a", "Exclusive", 0).await, 0);
}

#[cfg(unix)]
#[tokio::test]
async fn a_process_can_be_frozen() {
    let server = process(Settings::new()).await;
    let mut guest = guest(&server).await;
    guest.run("SELECT 1").await;
    server.freeze();
    let asking = tokio::spawn(async move { guest.int("SELECT 2").await });
    tokio::time::sleep(Duration::from_millis(100)).await;
    assert!(!asking.is_finished());
    server.thaw();
    assert_eq!(within(SOON, "an answer", asking).await.unwrap(), 2);
}

#[tokio::test]
async fn a_shutdown_ends_the_server() {
    let server = server();
    let mut sa = Guest::of(&server).await;
    sa.run("CREATE LOGIN ann WITH PASSWORD = 'ann'").await;
    let mut ann = Guest::named(&server, "ann", "ann", "").await;
    assert_eq!(ann.error("SHUTDOWN").await.code(), 6004);
    let _ = sa.try_rows("SHUTDOWN WITH NOWAIT").await;
    until(SOON, "the end", || server.has_ended()).await;
    assert!(ann.try_rows("SELECT 1").await.is_err());
    let server = process(Settings::new()).await;
    let _ = guest(&server).await.try_rows("SHUTDOWN").await;
    within(SOON, "the end", server.end()).await;
}

#[tokio::test]
async fn a_server_that_is_dropped_closes_its_connections() {
    let server = StandIn::start(Settings::new());
    let mut guest = Guest::of(&server).await;
    drop(server);
    assert!(guest.try_rows("SELECT 1").await.is_err());
}
