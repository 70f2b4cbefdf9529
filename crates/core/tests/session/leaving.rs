//! What is given back, and when a session is closed.

use crate::{
    LATE, asking,
    common::{beside, block_on, eventually, ms, poll_once, within_thread},
    pool, take,
};
use lockwork_core::lock::{Hold, Instant, Loss, Mode};
use std::future::IntoFuture;

#[tokio::test]
async fn an_answer_that_nobody_waits_for_is_given_back() {
    beside(ms(5000), async {
        let (db, pool) = pool(|_| {});
        db.after().close();
        let asking = asking(&pool, "a", Mode::Exclusive);
        db.after().reached(1).await;
        assert_eq!(db.held(), ["exclusive mutex:a"], "granted, and not told");
        asking.abort();
        assert!(asking.await.unwrap_err().is_cancelled());
        db.after().open();
        eventually("it was given back", || db.held().is_empty()).await;
        let _a = take(&pool, "a", Mode::Exclusive).await;
        db.nothing_was_wrong();
    })
    .await;
}

#[tokio::test]
async fn a_session_that_holds_nothing_is_closed_after_a_while() {
    beside(ms(5000), async {
        let (db, pool) = pool(|options| {
            options.linger = ms(200);
            options.ping_every = ms(50);
        });
        let a = take(&pool, "a", Mode::Exclusive).await;
        let b = take(&pool, "b", Mode::Exclusive).await;
        a.release().await.unwrap();
        db.pings().reached(6).await; // longer than that, and still in use
        let released_at = Instant::now();
        b.release().await.unwrap();
        db.closed().reached(1).await;
        let after = released_at.elapsed();
        assert!(after >= ms(195), "not before: {after:?}");
        assert!(
            after <= ms(200) + LATE,
            "too late: nor long after: {after:?}"
        );
        assert_eq!(pool.sessions(), 0);
        let _a = take(&pool, "a", Mode::Exclusive).await;
        assert_eq!(db.opened().get(), 2);
    })
    .await;
}

#[tokio::test]
async fn a_session_that_holds_something_is_not_closed() {
    beside(ms(5000), async {
        let (db, pool) = pool(|options| {
            options.linger = ms(50);
            options.ping_every = ms(25);
        });
        let a = take(&pool, "a", Mode::Exclusive).await;
        db.pings().reached(6).await;
        assert_eq!((a.lost().get(), pool.sessions()), (None, 1));
    })
    .await;
}

#[tokio::test]
async fn what_was_released_is_not_lost_with_its_session() {
    beside(ms(5000), async {
        let (db, pool) = pool(|options| options.linger = ms(50));
        let a = take(&pool, "a", Mode::Exclusive).await;
        let lost = a.lost();
        a.release().await.unwrap();
        db.closed().reached(1).await;
        assert_eq!(lost.get(), None);

        let a = take(&pool, "a", Mode::Exclusive).await;
        let b = take(&pool, "b", Mode::Exclusive).await;
        let (lost, mut waiting) = (a.lost(), a.lost().into_future());
        assert!(poll_once(&mut waiting).is_pending());
        a.release().await.unwrap();
        db.break_all();
        assert_eq!(b.lost().await, Loss::Disconnected);
        assert_eq!(lost.get(), None);
        assert!(poll_once(&mut waiting).is_pending());
    })
    .await;
}

#[test]
fn a_session_outlives_the_runtime_it_was_opened_from() {
    within_thread(ms(10_000), || {
        let (db, pool) = pool(|_| {});
        let a = block_on(take(&pool, "a", Mode::Exclusive));
        // That runtime has ended.
        assert_eq!(a.lost().get(), None);
        let b = block_on(take(&pool, "b", Mode::Exclusive));
        assert_eq!(db.opened().get(), 1);
        block_on(a.release()).unwrap();
        assert_eq!(db.held(), ["exclusive mutex:b"]);
        drop(b);
        block_on(eventually("b was given back", || db.held().is_empty()));
    });
}

#[tokio::test]
async fn a_session_outlives_its_pool_for_as_long_as_it_holds_something() {
    beside(ms(5000), async {
        let (db, pool) = pool(|_| {});
        let a = take(&pool, "a", Mode::Exclusive).await;
        drop(pool);
        assert_eq!(a.lost().get(), None);
        a.release().await.unwrap();
        db.closed().reached(1).await;
        assert!(db.held().is_empty());
    })
    .await;
}
