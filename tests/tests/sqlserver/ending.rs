//! Sessions that the server ends.

use crate::{AT_ONCE, SOON, place::Place, wait_for, within};
use lockwork::ErrorKind;
use std::time::Instant;

const GUARDS: usize = 5;

#[tokio::test]
async fn every_guard_of_a_session_that_was_killed_is_told_at_once_and_frees_nothing_later() {
    let place = Place::sql_server();
    let mut guest = place.guest().await;
    let (here, there) = (place.client().await, place.client().await);
    let mut guards = Vec::new();
    for number in 0..GUARDS {
        let mutex = here.mutex(number.to_string());
        guards.push(mutex.lock().await.unwrap());
    }
    let sessions = guest.sessions_that(true).await;
    assert_eq!(sessions.len(), 1, "all on one");
    let waiting = wait_for(&there, "0");
    guest.until_waiting(1).await;
    let start = Instant::now();
    guest.kill(&sessions).await;
    for guard in &guards {
        within(AT_ONCE, "the loss is told", guard.lost()).await;
        assert!(!guard.is_valid());
    }
    let told = start.elapsed();
    let (next, granted) = within(AT_ONCE, "the next one gets in", waiting)
        .await
        .unwrap();
    println!(
        "{GUARDS} guards were told after {told:?}, the next one was in after {:?}",
        granted - start
    );
    assert!(next.token() > guards[0].token());
    for guard in guards {
        let released = guard.release().await.unwrap_err();
        assert_eq!(released.kind(), ErrorKind::Lost, "{released}");
    }
    assert!(next.is_valid());
    assert_eq!(guest.held().await, 1, "the lock of the next one");
    assert!(here.mutex("0").try_lock().await.unwrap().is_none());
    next.release().await.unwrap();
    guest.until_nothing_is_left().await;
}

#[tokio::test]
async fn a_waiter_whose_session_was_killed_waits_on_another_and_gets_the_lock() {
    let place = Place::sql_server();
    let mut guest = place.guest().await;
    let (here, there) = (place.client().await, place.client().await);
    let guard = here.mutex("x").lock().await.unwrap();
    let waiting = wait_for(&there, "x");
    for _ in 0..3 {
        guest.until_waiting(1).await;
        let (sessions, before) = (
            guest.sessions_that(false).await,
            guest.ports_that(false).await,
        );
        guest.kill(&sessions).await;
        guest.until_another_waits(&before).await;
        assert!(!waiting.is_finished());
    }
    assert!(guard.is_valid());
    guard.release().await.unwrap();
    let (next, _) = within(SOON, "the waiter gets in", waiting).await.unwrap();
    next.release().await.unwrap();
    guest.until_nothing_is_left().await;
}

#[tokio::test]
async fn a_guard_that_was_waited_for_is_told_of_the_end_of_its_session_too() {
    let place = Place::sql_server();
    let mut guest = place.guest().await;
    let (here, there) = (place.client().await, place.client().await);
    let guard = here.mutex("x").lock().await.unwrap();
    let waiting = wait_for(&there, "x");
    guest.until_waiting(1).await;
    guard.release().await.unwrap();
    let (next, _) = within(SOON, "the waiter gets in", waiting).await.unwrap();
    let sessions = guest.sessions_that(true).await;
    guest.kill(&sessions).await;
    within(AT_ONCE, "the loss is told", next.lost()).await;
    let again = within(SOON, "it is free", there.mutex("x").lock()).await;
    again.unwrap().release().await.unwrap();
}
