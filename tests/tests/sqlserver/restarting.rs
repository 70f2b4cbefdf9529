//! Servers that end and come back.

use crate::{
    AT_ONCE, SOON,
    guest::Guest,
    place::{Place, connect},
    take, within, works,
};
use lockwork::{Error, ErrorKind, Guard, Locks};
use lockwork_conformance::sqlserver::{Settings, StandInProcess};
use std::{path::Path, time::Duration};

/// A server of its own, to be stopped and killed.
pub(crate) async fn server(settings: Settings) -> StandInProcess {
    let program = Path::new(env!("CARGO_BIN_EXE_sqlserver-standin"));
    StandInProcess::start(program, settings).await
}

async fn three_guards(locks: &Locks) -> Vec<Guard> {
    let mut guards = Vec::new();
    for name in ["x", "y", "z"] {
        guards.push(locks.mutex(name).lock().await.unwrap());
    }
    guards
}

/// What a try is told in the end. One in the very moment of the loss was once told that the lock is busy;
/// the session that is gone may still be counted among its holders then.
async fn refusal(locks: &Locks) -> Error {
    loop {
        match locks.mutex("x").try_lock().await {
            Ok(None) => tokio::time::sleep(Duration::from_millis(1)).await,
            Ok(Some(guard)) => panic!("granted: {guard:?}"),
            Err(refused) => return refused,
        }
    }
}

async fn all_are_lost(guards: &[Guard]) {
    for guard in guards {
        within(AT_ONCE, "the loss is told", guard.lost()).await;
        assert!(!guard.is_valid());
    }
}

/// A server keeps its sequences. This one kept nothing, as one whose database was made anew: whoever
/// is connected is told so, and does not begin again with low tokens by itself.
#[tokio::test]
async fn a_server_that_was_killed_loses_every_lock_and_grants_them_anew_when_it_is_back() {
    let first = server(Settings::new()).await;
    let port = first.address().port();
    let place = Place::at(&format!("{}?trust=any", first.url()));
    let here = place.client().await;
    let guards = three_guards(&here).await;
    first.kill().await;
    all_are_lost(&guards).await;
    let refused = within(SOON, "a try is refused", refusal(&here)).await;
    assert_eq!(refused.kind(), ErrorKind::Unavailable, "{refused}");
    let _second = server(Settings::new().port(port)).await;
    let refused = here.mutex("x").try_lock().await.unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Denied, "{refused}");
    assert!(refused.to_string().contains("sequence"), "{refused}");
    let last = guards[2].token().unwrap();
    let mut guest = place.guest().await;
    restore(&mut guest, last.get()).await;
    let guard = take(&here, "x").await;
    assert!(
        guard.token() > Some(last),
        "{:?} after {last:?}",
        guard.token()
    );
    assert!(
        place
            .client()
            .await
            .mutex("x")
            .try_lock()
            .await
            .unwrap()
            .is_none()
    );
}

/// As the sequence is on a server that has not lost its disk.
async fn restore(guest: &mut Guest, last: u64) {
    guest.run("CREATE SCHEMA lockwork").await;
    let sql = format!(
        "CREATE SEQUENCE lockwork.token AS bigint START WITH {} INCREMENT BY 1",
        last + 1
    );
    guest.run(&sql).await;
}

#[tokio::test]
async fn without_tokens_a_server_that_is_back_is_as_good_as_ever() {
    let first = server(Settings::new()).await;
    let port = first.address().port();
    let place = Place::at(&format!("{}?trust=any", first.url()));
    let here = connect(&place.url("tenure=0s&tokens=false")).await;
    let guards = three_guards(&here).await;
    first.kill().await;
    all_are_lost(&guards).await;
    let _second = server(Settings::new().port(port)).await;
    let guard = take(&here, "x").await;
    assert_eq!(guard.token(), None);
    guard.release().await.unwrap();
    for name in ["x", "y", "z"] {
        works(&here, name).await;
    }
}

#[tokio::test]
async fn a_server_that_is_shut_down_loses_every_lock_at_once() {
    let server = server(Settings::new()).await;
    let place = Place::at(&format!("{}?trust=any", server.url()));
    let here = place.client().await;
    let guards = three_guards(&here).await;
    let mut guest = place.guest().await;
    let _ = guest.try_rows("SHUTDOWN WITH NOWAIT").await;
    all_are_lost(&guards).await;
    within(SOON, "the server ends", server.end()).await;
    let refused = here.mutex("x").try_lock().await.unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Unavailable, "{refused}");
}
