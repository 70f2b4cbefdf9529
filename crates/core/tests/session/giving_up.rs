//! Whoever stops waiting leaves nothing: neither here nor at the server.

use crate::{
    common::{
        beside,
        db::{Exchange, Step},
        eventually, ms,
    },
    left, occupy, on_news_only, pool, request, take, waiting, waiting_until, waits_at,
};
use lockwork_core::lock::{Deadline, ErrorKind, Instant, Mode};

const WAITER: &str = "exclusive mutex:a";

fn within_50_ms() -> Deadline {
    Deadline::At(Instant::now() + ms(50))
}

#[tokio::test]
async fn a_waiter_whose_time_runs_out_leaves_once() {
    beside(ms(5000), async {
        let (db, pool) = pool(on_news_only);
        db.rival_takes("mutex:a", Mode::Exclusive);
        let deadline = Deadline::At(Instant::now() + ms(300));
        let waiter = waiting_until(&pool, "a", Mode::Exclusive, deadline);
        waits_at(&db, &[WAITER]).await;
        assert!(waiter.await.unwrap().unwrap().is_none());
        assert!(deadline.has_passed());
        waits_at(&db, &[]).await;
        db.rival_leaves();
        let _a = take(&pool, "a", Mode::Exclusive).await;
        assert_eq!(left(&db), [WAITER]);
        db.nothing_was_wrong();
    })
    .await;
}

#[tokio::test]
async fn whoever_was_not_refused_does_not_leave() {
    beside(ms(5000), async {
        let (db, pool) = pool(on_news_only);
        let occupying = occupy(&db, &pool).await;
        let deadline = within_50_ms();
        let late = waiting_until(&pool, "b", Mode::Exclusive, deadline);
        eventually("its time is up", || deadline.has_passed()).await;
        db.before().open();
        let late = late.await.unwrap().unwrap();
        assert!(late.is_some(), "it has its one try");
        assert!(left(&db).is_empty());
        drop((late, occupying));
    })
    .await;
}

#[tokio::test]
async fn a_deadline_that_passes_while_the_session_is_opened_leaves_one_try() {
    beside(ms(5000), async {
        for deadline in [Deadline::Now, Deadline::At(Instant::now())] {
            let (db, pool) = pool(on_news_only);
            db.door().close();
            let late = waiting_until(&pool, "a", Mode::Exclusive, deadline);
            db.door().reached(1).await;
            eventually("its time is up", || deadline.has_passed()).await;
            db.door().open();
            assert!(late.await.unwrap().unwrap().is_some(), "{deadline:?}");
            db.nothing_was_wrong();
        }
    })
    .await;
}

#[tokio::test]
async fn a_dropped_wait_leaves_and_takes_no_room() {
    beside(ms(5000), async {
        let (db, pool) = pool(|options| {
            on_news_only(options);
            options.capacity = 1;
        });
        db.rival_takes("mutex:a", Mode::Exclusive);
        for _ in 0..3 {
            let waiter = waiting(&pool, "a", Mode::Exclusive);
            waits_at(&db, &[WAITER]).await;
            waiter.abort();
            assert!(waiter.await.unwrap_err().is_cancelled());
            waits_at(&db, &[]).await;
        }
        assert_eq!(left(&db), [WAITER; 3]);
        db.rival_leaves();
        let _a = take(&pool, "a", Mode::Exclusive).await;
        assert_eq!(db.opened().get(), 1);
        db.nothing_was_wrong();
    })
    .await;
}

#[tokio::test]
async fn a_grant_on_its_way_when_the_time_runs_out_is_a_grant() {
    beside(ms(5000), async {
        let (db, pool) = pool(on_news_only);
        db.rival_takes("mutex:a", Mode::Exclusive);
        let deadline = Deadline::At(Instant::now() + ms(200));
        let waiter = waiting_until(&pool, "a", Mode::Exclusive, deadline);
        waits_at(&db, &[WAITER]).await;
        let arrived = db.after().arrived();
        db.after().close();
        db.rival_leaves();
        db.tell("mutex:a");
        db.after().reached(arrived + 1).await;
        eventually("its time is up", || deadline.has_passed()).await;
        db.after().open();
        let held = waiter.await.unwrap().unwrap();
        assert!(held.is_some());
        assert_eq!(db.held(), [WAITER]);
        assert!(left(&db).is_empty());
    })
    .await;
}

#[tokio::test]
async fn a_grant_on_its_way_to_a_dropped_wait_is_given_back() {
    beside(ms(5000), async {
        let (db, pool) = pool(on_news_only);
        db.rival_takes("mutex:a", Mode::Exclusive);
        let waiter = waiting(&pool, "a", Mode::Exclusive);
        waits_at(&db, &[WAITER]).await;
        let arrived = db.after().arrived();
        db.after().close();
        db.rival_leaves();
        db.tell("mutex:a");
        db.after().reached(arrived + 1).await;
        waiter.abort();
        assert!(waiter.await.unwrap_err().is_cancelled());
        db.after().open();
        eventually("it was given back", || db.held().is_empty()).await;
        assert!(left(&db).is_empty());
        let _a = take(&pool, "a", Mode::Exclusive).await;
        db.nothing_was_wrong();
    })
    .await;
}

#[tokio::test]
async fn nobody_has_left_while_another_waits_for_the_same() {
    beside(ms(5000), async {
        let (db, pool) = pool(on_news_only);
        db.rival_takes("rwlock:a", Mode::Write);
        let first = waiting(&pool, "a", Mode::Read);
        waits_at(&db, &["read rwlock:a"]).await;
        let second = waiting_until(&pool, "a", Mode::Read, within_50_ms()).await;
        assert!(second.unwrap().unwrap().is_none());
        assert_eq!(db.waiting(), ["read rwlock:a"]);
        assert!(left(&db).is_empty());
        first.abort();
        waits_at(&db, &[]).await;
        assert_eq!(left(&db), ["read rwlock:a"]);
        db.nothing_was_wrong();
    })
    .await;
}

#[tokio::test]
async fn no_more_leave_in_one_round_trip_than_may_ride() {
    beside(ms(5000), async {
        let (db, pool) = pool(|options| {
            on_news_only(options);
            options.batch = 5;
        });
        let waiters: Vec<_> = (0..12)
            .map(|n| {
                db.rival_takes(&format!("mutex:{n}"), Mode::Exclusive);
                waiting(&pool, &n.to_string(), Mode::Exclusive)
            })
            .collect();
        eventually("all of them wait", || db.waiting().len() == 12).await;
        let occupying = occupy(&db, &pool).await;
        for waiter in waiters {
            waiter.abort();
            let _ = waiter.await;
        }
        tokio::time::sleep(ms(50)).await; // nothing tells that the session was told
        db.before().open();
        waits_at(&db, &[]).await;
        let keys = |exchange: &Exchange| exchange.leaves.len() + exchange.takes.len();
        let most = db.exchanges().iter().map(keys).max();
        assert_eq!(most, Some(5));
        assert_eq!(left(&db).len(), 12);
        drop(occupying);
    })
    .await;
}

#[tokio::test]
async fn a_waiter_whose_round_trip_failed_does_not_wait_at_the_server() {
    beside(ms(5000), async {
        for step in [Step::Fail, Step::FailAfterwards] {
            let (db, pool) = pool(|options| {
                on_news_only(options);
                options.ping_every = ms(50);
            });
            db.rival_takes("mutex:a", Mode::Exclusive);
            let waiter = waiting(&pool, "a", Mode::Exclusive);
            waits_at(&db, &[WAITER]).await;
            db.next([step]);
            db.tell("mutex:a");
            let error = waiter.await.unwrap().unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Unavailable);
            waits_at(&db, &[]).await;
            assert_eq!(left(&db), [WAITER]);
            assert_eq!(db.opened().get(), 1);
        }
    })
    .await;
}

#[tokio::test]
async fn a_leaving_that_failed_is_told_with_the_next_round_trip() {
    beside(ms(5000), async {
        let (db, pool) = pool(|options| {
            on_news_only(options);
            options.ping_every = ms(50);
        });
        db.rival_takes("mutex:a", Mode::Exclusive);
        let waiter = waiting(&pool, "a", Mode::Exclusive);
        waits_at(&db, &[WAITER]).await;
        db.next([Step::Fail; 3]);
        waiter.abort();
        waits_at(&db, &[]).await;
        assert_eq!(left(&db), [WAITER; 4]);
        assert_eq!(db.opened().get(), 1);
    })
    .await;
}

#[tokio::test]
async fn a_wait_that_nobody_began_asks_for_nothing() {
    beside(ms(5000), async {
        let (db, pool) = pool(|_| {});
        drop(pool.acquire(request("a", Mode::Exclusive, Deadline::Never)));
        assert_eq!((pool.sessions(), db.exchanges().len()), (0, 0));
    })
    .await;
}
