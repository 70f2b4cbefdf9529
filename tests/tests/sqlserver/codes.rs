//! What `sp_getapplock` returns, and what becomes of it.

use crate::{
    SOON,
    mangler::Mangler,
    place::{Place, a_while, connect},
    until, wait_for, within, works,
};
use lockwork::{ErrorKind, sqlserver::try_lock_in};
use std::time::Duration;

/// Names are as they are in SQL then.
const PLAIN: &str = "tenure=0s&compat=medallion";

/// How often each tries who comes and goes.
const TRIES: u32 = 1_000;

/// What each server says to one who is granted a lock at once, granted it after waiting, refused at
/// once, and refused after waiting: so it is asked by hand first, and then by lockwork.
async fn grants_and_refusals(place: &Place, said: [i32; 4]) {
    let [at_once, after_waiting, busy, not_in_time] = said;
    let (mut one, mut two) = (place.guest().await, place.guest().await);
    let locks = place.client_with(PLAIN).await;
    assert_eq!(one.get("x", "Exclusive", 0).await, at_once);
    assert_eq!(two.get("x", "Exclusive", 0).await, busy);
    assert_eq!(two.get("x", "Exclusive", 20).await, not_in_time);
    let mutex = locks.mutex("x");
    assert!(mutex.try_lock().await.unwrap().is_none());
    let waited = mutex.try_lock_for(Duration::from_millis(100)).await;
    assert!(waited.unwrap().is_none());
    assert!(locks.rw_lock("x").try_read().await.unwrap().is_none());
    let both = tokio::spawn(async move {
        let code = two.get("x", "Exclusive", 10_000).await;
        two.release("x").await;
        code
    });
    let waiting = wait_for(&locks, "x");
    a_while().await;
    one.release("x").await;
    let code = within(SOON, "their grant", both).await.unwrap();
    assert_eq!(code, after_waiting);
    let (guard, _) = within(SOON, "our grant", waiting).await.unwrap();
    assert!(guard.is_valid());
    guard.release().await.unwrap();
    assert!(mutex.try_lock().await.unwrap().is_some());
}

#[tokio::test]
async fn grants_and_refusals_of_sql_server_are_what_they_are() {
    grants_and_refusals(&Place::sql_server(), [0, 1, -1, -1]).await;
}

/// It says -999 where others say -1, if it is not to wait.
#[tokio::test]
async fn grants_and_refusals_of_babelfish_are_what_they_are() {
    grants_and_refusals(&Place::babelfish(), [0, 0, -999, -1]).await;
}

#[tokio::test]
async fn every_mode_is_refused_and_granted_where_busy_is_called_wrong() {
    let place = Place::babelfish();
    let (here, there) = (place.client().await, place.client().await);
    let writer = here.rw_lock("x").write().await.unwrap();
    let other = there.rw_lock("x");
    assert!(other.try_read().await.unwrap().is_none());
    assert!(other.try_write().await.unwrap().is_none());
    assert!(other.try_upgradeable_read().await.unwrap().is_none());
    writer.release().await.unwrap();
    let reader = here.rw_lock("x").read().await.unwrap();
    assert!(other.try_write().await.unwrap().is_none());
    let mut upgradeable = other.try_upgradeable_read().await.unwrap().unwrap();
    assert!(!upgradeable.try_upgrade().await.unwrap());
    reader.release().await.unwrap();
    assert!(upgradeable.try_upgrade().await.unwrap());
    upgradeable.release().await.unwrap();
    let permit = here.semaphore("x", 1).acquire().await.unwrap();
    assert!(
        there
            .semaphore("x", 1)
            .try_acquire()
            .await
            .unwrap()
            .is_none()
    );
    permit.release().await.unwrap();
    assert!(
        there
            .semaphore("x", 1)
            .try_acquire()
            .await
            .unwrap()
            .is_some()
    );
}

#[tokio::test]
async fn a_principal_that_is_not_there_is_denied_and_the_sentence_names_it() {
    let place = Place::sql_server();
    let denied = lockwork::connect(&place.url("principal=nobody")).await;
    let denied = denied.unwrap_err();
    assert_eq!(denied.kind(), ErrorKind::Denied, "{denied}");
    assert!(denied.to_string().contains("principal"), "{denied}");
}

#[tokio::test]
async fn a_principal_whose_members_we_are_not_is_denied_and_one_of_ours_is_not() {
    let place = Place::sql_server();
    let mut guest = place.guest().await;
    let login = format!("stranger_{:x}", rand::random::<u32>());
    guest
        .run(&format!(
            "CREATE LOGIN {login} WITH PASSWORD = 'Stranger-0f-tests'"
        ))
        .await;
    guest
        .run(&format!("CREATE USER {login} FOR LOGIN {login}"))
        .await;
    guest.run(&format!("CREATE ROLE role_of_{login}")).await;
    let options = format!("tenure=0s&tokens=false&principal=role_of_{login}");
    let url = place.url_as(&login, "Stranger-0f-tests", &options);
    let denied = lockwork::connect(&url).await.unwrap_err();
    assert_eq!(denied.kind(), ErrorKind::Denied, "{denied}");
    assert!(denied.to_string().contains("member"), "{denied}");
    guest
        .run(&format!("ALTER ROLE role_of_{login} ADD MEMBER {login}"))
        .await;
    let member = connect(&url).await;
    works(&member, "x").await;
    // Who loses the right meanwhile is told when it asks, and when it waits.
    guest
        .run(&format!("ALTER ROLE role_of_{login} DROP MEMBER {login}"))
        .await;
    let denied = member.mutex("x").try_lock().await.unwrap_err();
    assert_eq!(denied.kind(), ErrorKind::Denied, "{denied}");
}

/// -2 is said to nobody who has called off the wait itself; so it is put into the server's mouth.
#[tokio::test]
async fn a_wait_that_the_server_called_off_goes_on_and_what_it_granted_is_given_back() {
    let place = Place::sql_server();
    let mut guest = place.guest().await;
    let mangler = Mangler::start(place.port(), 1, -2).await;
    let here = place.client().await;
    let there = connect(&place.url_at(mangler.port, "tenure=0s&encrypt=none")).await;
    let guard = here.mutex("x").lock().await.unwrap();
    let waiting = wait_for(&there, "x");
    guest.until_waiting(1).await;
    mangler.change(1);
    guard.release().await.unwrap();
    let (next, _) = within(SOON, "it goes on", waiting).await.unwrap();
    assert_eq!(mangler.left(), 0);
    assert!(next.is_valid());
    assert_eq!(guest.held().await, 1);
    next.release().await.unwrap();
    guest.until_nothing_is_left().await;
}

#[tokio::test]
async fn a_try_that_the_server_called_off_is_unavailable_and_leaves_nothing() {
    let place = Place::sql_server();
    let mut guest = place.guest().await;
    let mangler = Mangler::start(place.port(), 0, -2).await;
    let here = connect(&place.url_at(mangler.port, "tenure=0s&encrypt=none")).await;
    mangler.change(1);
    let refused = here.mutex("x").try_lock().await.unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Unavailable, "{refused}");
    assert!(refused.to_string().contains("code=-2"), "{refused}");
    until(SOON, "it was changed", || mangler.left() == 0).await;
    guest.until_nothing_is_left().await;
    works(&here, "x").await;
}

#[tokio::test]
async fn a_try_that_babelfish_called_off_is_unavailable_and_leaves_nothing() {
    let place = Place::babelfish();
    let mangler = Mangler::start(place.port(), 0, -2).await;
    let here = connect(&place.url_at(mangler.port, "tenure=0s")).await;
    mangler.change(1);
    let refused = here.mutex("x").try_lock().await.unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Unavailable, "{refused}");
    assert!(refused.to_string().contains("code=-2"), "{refused}");
    until(SOON, "it was changed", || mangler.left() == 0).await;
    works(&place.client().await, "x").await;
    works(&here, "x").await;
}

/// Busy when it is tried, free when that is asked back: somebody came and went.
#[tokio::test]
async fn a_lock_that_comes_and_goes_is_busy_and_not_wrong() {
    let place = Place::babelfish();
    let mut coming_and_going = tokio::task::JoinSet::new();
    for _ in 0..3 {
        let mutex = place.client_with("tenure=0s").await.mutex("x");
        coming_and_going.spawn(async move {
            let mut granted = 0;
            for _ in 0..TRIES {
                if let Some(guard) = mutex.try_lock().await.unwrap() {
                    guard.release().await.unwrap();
                    granted += 1;
                }
            }
            granted
        });
        let mut guest = place.guest().await;
        coming_and_going.spawn(async move {
            let mut granted = 0;
            for _ in 0..TRIES {
                guest.run("BEGIN TRANSACTION").await;
                granted += u32::from(try_lock_in(&mut guest.client, "x").await.unwrap());
                guest.run("COMMIT").await;
            }
            granted
        });
    }
    let granted = within(SOON, "all have tried", coming_and_going.join_all()).await;
    println!("granted {granted:?} of {TRIES} each");
    let some = |granted: &u32| (1..TRIES).contains(granted);
    assert!(granted.iter().all(some), "{granted:?}");
}
