//! Runtimes that end or stand still under locks that were connected on them.

use crate::{
    LEASE, SOON, generous,
    place::{Place, SHORT_LEASE},
    within, works,
};
use lockwork::{Guard, Locks};
use std::{
    sync::OnceLock,
    thread,
    time::{Duration, Instant},
};
use tokio::runtime::{Builder, Runtime};

fn runtime() -> Runtime {
    Builder::new_current_thread().enable_all().build().unwrap()
}

#[test]
fn locks_in_a_static_work_on_one_runtime_after_another() {
    static LOCKS: OnceLock<Locks> = OnceLock::new();
    let place = Place::sql_server();
    let first = runtime();
    let locks = LOCKS.get_or_init(|| first.block_on(place.client_with(SHORT_LEASE)));
    let held: Guard = first.block_on(async {
        works(locks, "x").await;
        locks.mutex("held").lock().await.unwrap()
    });
    drop(first);
    for _ in 0..2 {
        let next = runtime();
        let start = Instant::now();
        next.block_on(works(locks, "x"));
        assert!(
            start.elapsed() < generous(Duration::from_millis(500)),
            "too late"
        );
    }
    // Kept with no runtime at all.
    thread::sleep(LEASE * 3 / 2);
    assert!(held.is_valid());
    runtime().block_on(async {
        let there = place.client().await;
        assert!(there.mutex("held").try_lock().await.unwrap().is_none());
        held.release().await.unwrap();
        works(&there, "held").await;
        works(locks, "held").await;
    });
}

#[test]
fn a_runtime_that_ends_with_its_waiters_leaves_no_place_in_the_line() {
    let place = Place::sql_server();
    let (first, second) = (runtime(), runtime());
    let here = second.block_on(place.client());
    let guard = second.block_on(here.mutex("x").lock()).unwrap();
    let mut guest = second.block_on(place.guest());
    let there = first.block_on(place.client());
    let mutex = there.mutex("x");
    first.spawn(async move { drop(mutex.lock().await) });
    first.block_on(guest_waits(&place));
    drop(first);
    second.block_on(async {
        guest.until_waiting(0).await;
        assert!(guard.is_valid());
        guard.release().await.unwrap();
        guest.until_nothing_is_left().await;
        works(&there, "x").await;
    });
}

async fn guest_waits(place: &Place) {
    place.guest().await.until_waiting(1).await;
}

#[tokio::test]
async fn a_runtime_that_is_kept_busy_for_longer_than_the_lease_loses_no_lock() {
    let place = Place::sql_server();
    let locks = place.client_with(SHORT_LEASE).await;
    let guard = locks.mutex("x").lock().await.unwrap();
    thread::sleep(LEASE * 3 / 2);
    assert!(guard.is_valid());
    let there = place.client().await;
    assert!(there.mutex("x").try_lock().await.unwrap().is_none());
    within(SOON, "the release", guard.release()).await.unwrap();
}
