//! Waits at the server that fail, and sessions that break meanwhile.

use super::{A, granted, in_line, lined_up, lining, waits};
use crate::{
    LATE,
    common::{
        beside,
        db::{CleanUp, Step, Stop, Wait},
        ms, mutex_id,
    },
    take, waiting,
};
use lockwork_core::lock::{ErrorKind, Hold, Instant, Mode};

#[tokio::test]
async fn a_wait_that_failed_is_stopped_and_asked_for_again() {
    beside(ms(5000), async {
        for (wait, stop) in [
            (Wait::Fail, Stop::Succeed),
            (Wait::Fail, Stop::Fail),
            (Wait::FailAfterwards, Stop::Succeed),
            (Wait::FailAfterwards, Stop::Fail),
        ] {
            let (db, pool) = lining(|_| {});
            db.next_waits([wait]);
            db.next_stop(stop);
            let waiter = lined_up(&db, &pool, "a").await;
            db.rival_leaves();
            let a = granted(waiter).await;
            assert_eq!(a.lost().get(), None);
            assert_eq!(db.stops().arrived(), 1, "{wait:?} {stop:?}");
            a.release().await.unwrap();
            assert!(db.held().is_empty());
            db.nothing_was_wrong();
        }
    })
    .await;
}

#[tokio::test]
async fn a_wait_that_was_denied_is_stopped_and_not_asked_for_again() {
    beside(ms(5000), async {
        for wait in [Wait::Deny, Wait::DenyAfterwards] {
            let (db, pool) = lining(|_| {});
            db.next_waits([wait]);
            db.rival_takes("mutex:a", Mode::Exclusive);
            let waiter = waiting(&pool, "a", Mode::Exclusive);
            db.waits().reached(1).await;
            if matches!(wait, Wait::DenyAfterwards) {
                in_line(&db, &[A]).await;
                db.rival_leaves();
            }
            let error = waiter.await.unwrap().unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Denied);
            assert_eq!((db.stops().arrived(), db.waits().arrived()), (1, 1));
            db.rival_leaves();
            assert!(db.held().is_empty());
            assert_eq!((pool.sessions(), db.closed().get()), (2, 0));
            db.nothing_was_wrong();
        }
    })
    .await;
}

#[tokio::test]
async fn a_denied_wait_that_cannot_be_stopped_is_told_when_its_connection_is_gone() {
    beside(ms(5000), async {
        for stop in [Stop::Fail, Stop::Never] {
            let (db, pool) = lining(|options| options.patience = ms(150));
            db.next_waits([Wait::DenyAfterwards]);
            db.next_stop(stop);
            let held = take(&pool, "held", Mode::Exclusive).await;
            let waiter = lined_up(&db, &pool, "a").await;
            let granted_at = Instant::now();
            db.rival_leaves();
            let error = waiter.await.unwrap().unwrap_err();
            assert_eq!((db.closed().get(), db.held().len()), (1, 1), "{stop:?}");
            assert_eq!(error.kind(), ErrorKind::Denied);
            assert!(granted_at.elapsed() <= ms(150) + LATE, "too late");
            assert_eq!(held.lost().get(), None);
            db.nothing_was_wrong();
        }
    })
    .await;
}

#[tokio::test]
async fn a_waiter_whose_session_breaks_goes_on_on_another() {
    beside(ms(5000), async {
        let (db, pool) = lining(|options| options.places = 1);
        let held = take(&pool, "held", Mode::Exclusive).await;
        let waiter = lined_up(&db, &pool, "a").await;
        for broken in 2..=4 {
            db.break_one(broken);
            db.closed()
                .reached(usize::try_from(broken).unwrap() - 1)
                .await;
            in_line(&db, &[A]).await;
        }
        db.rival_leaves();
        let _a = granted(waiter).await;
        assert_eq!(db.waited(), waits(&[(2, A), (3, A), (4, A), (5, A)]));
        assert_eq!(held.lost().get(), None);
        db.nothing_was_wrong();
    })
    .await;
}

#[tokio::test]
async fn a_waiter_goes_on_after_the_other_session_broke_too() {
    beside(ms(5000), async {
        let (db, pool) = lining(|_| {});
        let waiter = lined_up(&db, &pool, "a").await;
        // The one that tries learns that it is broken when it is asked.
        db.next([Step::Fail]);
        db.next_clean_up(CleanUp::Fail);
        db.break_one(2);
        db.closed().reached(2).await;
        in_line(&db, &[A]).await;
        db.rival_leaves();
        let _a = granted(waiter).await;
        assert_eq!(db.opened().get(), 4);
        db.nothing_was_wrong();
    })
    .await;
}

#[tokio::test]
async fn a_waiter_is_let_in_however_often_all_sessions_break() {
    beside(ms(5000), async {
        let (db, pool) = lining(|_| {});
        let waiter = lined_up(&db, &pool, "a").await;
        for _ in 0..4 {
            let opened = db.opened().get();
            db.break_all();
            db.closed().reached(opened).await;
            in_line(&db, &[A]).await;
        }
        db.rival_leaves();
        let _a = granted(waiter).await;
        db.nothing_was_wrong();
    })
    .await;
}

#[tokio::test]
async fn a_wait_of_which_nothing_is_heard_is_stopped_whatever_the_hints_say() {
    beside(ms(5000), async {
        let (db, pool) = lining(|options| {
            options.wait_at_most = ms(50);
            options.patience = ms(100);
            options.ping_every = ms(60);
        });
        db.next_waits([Wait::Silence]);
        let begun_at = Instant::now();
        let waiter = lined_up(&db, &pool, "a").await;
        let chatter = async {
            loop {
                pool.hints().hint(&mutex_id("a"));
                tokio::time::sleep(ms(5)).await;
            }
        };
        tokio::select! {
            () = chatter => {}
            () = db.stops().reached(1) => {}
        }
        let after = begun_at.elapsed();
        assert!(after >= ms(150), "not before: {after:?}");
        assert!(after <= ms(180) + LATE, "too late: {after:?}");
        db.rival_leaves();
        let _a = granted(waiter).await;
        db.nothing_was_wrong();
    })
    .await;
}

#[tokio::test]
async fn a_driver_that_panics_while_it_waits_takes_no_place_with_it() {
    beside(ms(5000), async {
        let (db, pool) = lining(|options| options.places = 1);
        let held = take(&pool, "held", Mode::Exclusive).await;
        db.next_waits([Wait::Panic]);
        let waiter = lined_up(&db, &pool, "a").await;
        assert_eq!(db.waited(), waits(&[(3, A)]));
        db.rival_leaves();
        let _a = granted(waiter).await;
        assert_eq!(held.lost().get(), None);
        db.nothing_was_wrong();
    })
    .await;
}
