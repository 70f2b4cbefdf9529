//! Locks that end with the caller's transaction.

use crate::{SOON, place::Place, wait_for, within, works};
use lockwork::{
    ErrorKind, Result,
    sqlserver::{lock_in, try_lock_in},
};
use std::time::Duration;

async fn a_transaction_excludes_the_mutex_and_ends_with(place: &Place, end: &str) {
    let locks = place.client().await;
    let mut guest = place.guest().await;
    guest.run("BEGIN TRANSACTION").await;
    assert!(try_lock_in(&mut guest.client, "x").await.unwrap());
    assert!(locks.mutex("x").try_lock().await.unwrap().is_none());
    assert!(locks.mutex("y").try_lock().await.unwrap().is_some());
    // Once more is no harm.
    assert!(lock_in(&mut guest.client, "x", SOON).await.unwrap());
    let waiting = wait_for(&locks, "x");
    match end {
        "" => drop(guest),
        end => guest.run(end).await,
    }
    let (guard, _) = within(SOON, "it is free", waiting).await.unwrap();
    let mut guest = place.guest().await;
    guest.run("BEGIN TRANSACTION").await;
    assert!(!try_lock_in(&mut guest.client, "x").await.unwrap());
    let short = Duration::from_millis(50);
    assert!(!lock_in(&mut guest.client, "x", short).await.unwrap());
    let (got, released) = tokio::join!(lock_in(&mut guest.client, "x", SOON), guard.release());
    released.unwrap();
    assert!(got.unwrap());
    guest.run("ROLLBACK").await;
    works(&locks, "x").await;
}

#[tokio::test]
async fn a_lock_in_a_transaction_ends_with_commit_rollback_and_the_connection() {
    let place = Place::sql_server();
    for end in ["COMMIT", "ROLLBACK", ""] {
        a_transaction_excludes_the_mutex_and_ends_with(&place, end).await;
    }
    place.guest().await.until_nothing_is_left().await;
}

#[tokio::test]
async fn it_does_so_on_babelfish() {
    let place = Place::babelfish();
    for end in ["COMMIT", "ROLLBACK", ""] {
        a_transaction_excludes_the_mutex_and_ends_with(&place, end).await;
    }
}

#[tokio::test]
async fn outside_of_a_transaction_it_is_denied() {
    for place in [Place::sql_server(), Place::babelfish()] {
        let mut guest = place.guest().await;
        for within in [Duration::ZERO, SOON] {
            let denied = lock_in(&mut guest.client, "x", within).await.unwrap_err();
            assert_eq!(denied.kind(), ErrorKind::Denied, "{denied}");
            assert!(denied.to_string().contains("transaction"), "{denied}");
        }
        // Nothing is held, and the connection is good for more.
        let free = place.client().await.mutex("x").try_lock().await.unwrap();
        free.expect("nobody holds it").release().await.unwrap();
        guest.run("BEGIN TRANSACTION").await;
        assert!(try_lock_in(&mut guest.client, "x").await.unwrap());
    }
}

/// Locks one name, and then the other once both have theirs.
async fn one_after_the_other(
    place: &Place,
    names: [&str; 2],
    both: &tokio::sync::Barrier,
) -> Result<bool> {
    let mut guest = place.guest().await;
    guest.run("BEGIN TRANSACTION").await;
    assert!(lock_in(&mut guest.client, names[0], SOON).await?);
    both.wait().await;
    lock_in(&mut guest.client, names[1], SOON).await
}

#[tokio::test]
async fn one_of_two_transactions_that_wait_for_each_other_is_told_of_the_deadlock() {
    for place in [Place::sql_server(), Place::babelfish()] {
        let both = tokio::sync::Barrier::new(2);
        let waiting = Box::pin(async {
            tokio::join!(
                one_after_the_other(&place, ["x", "y"], &both),
                one_after_the_other(&place, ["y", "x"], &both),
            )
        });
        let (one, other) = within(SOON, "both end", waiting).await;
        let (granted, victims): (Vec<_>, Vec<_>) =
            [one, other].into_iter().partition(Result::is_ok);
        assert_eq!(victims.len(), 1, "{victims:?}");
        assert!(granted.into_iter().all(|granted| granted.unwrap()));
        for victim in victims {
            let victim = victim.unwrap_err();
            assert_eq!(victim.kind(), ErrorKind::Deadlock, "{victim}");
        }
    }
}
