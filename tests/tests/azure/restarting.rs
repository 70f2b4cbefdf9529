//! An Azurite that stands still, is gone, and comes back.
//!
//! When it is started again Azurite takes each lease that ends for one that has ended, which the real
//! service does not. So nothing is said here of who holds a lock across that.

use crate::{LEASE, Place, SOON, lock, within};
use lockwork::{ErrorKind, Loss};
use lockwork_conformance::generous;
use lockwork_servers::Azurite;
use std::time::{Duration, Instant};

#[tokio::test]
async fn a_server_that_stands_still_loses_the_lock_by_our_own_clock() {
    let server = Azurite::start().unwrap();
    let place = Place::at(&server).await;
    let locks = place.other().await;
    let asked_at = Instant::now();
    let guard = lock(&locks).await;
    server.freeze().unwrap();
    let began = Instant::now();
    let error = locks.mutex("y").try_lock_for(Duration::from_secs(1)).await;
    assert_eq!(error.unwrap_err().kind(), ErrorKind::Unavailable);
    assert!(began.elapsed() < Duration::from_secs(3), "too late");
    assert_eq!(guard.lost().await, Loss::Expired);
    let after = asked_at.elapsed();
    println!("off after {after:?}");
    assert!(after < generous(LEASE), "too late: {after:?}");
    server.thaw();
    drop(within(SOON, "it goes on", lock(&locks)).await);
}

#[tokio::test]
async fn a_server_that_is_gone_is_unavailable_and_one_that_is_back_goes_on() {
    let server = Azurite::start().unwrap();
    let place = Place::at(&server).await;
    let locks = place.other().await;
    let guard = lock(&locks).await;
    let token = guard.token();
    drop(guard);
    locks
        .mutex("y")
        .lock()
        .await
        .unwrap()
        .release()
        .await
        .unwrap();
    server.stop().unwrap();
    for _ in 0..2 {
        let began = Instant::now();
        let error = locks.mutex("x").lock().await.unwrap_err();
        println!(
            "{error} ({:?})",
            std::error::Error::source(&error).map(ToString::to_string)
        );
        assert_eq!(error.kind(), ErrorKind::Unavailable);
        assert!(began.elapsed() < Duration::from_secs(2), "too late");
    }
    server.restart().unwrap();
    let next = within(SOON, "it goes on", lock(&locks)).await;
    assert!(next.token() > token);
}
