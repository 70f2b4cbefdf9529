//! Errors, and what is lost when.

use crate::{
    Asked, LATE, ask, asking,
    common::{
        alone, beside,
        db::{CleanUp, Step},
        in_the_act, ms, poll_once,
    },
    let_them_ask, occupy, pool, take, take_again,
};
use lockwork_core::lock::{Deadline, ErrorKind, Hold, Instant, Loss, Mode};
use std::pin::pin;

#[tokio::test]
async fn a_failed_round_trip_that_was_cleaned_up_costs_its_takes_and_nothing_else() {
    beside(ms(5000), async {
        for step in [Step::Fail, Step::FailAfterwards] {
            let (db, pool) = pool(|_| {});
            let a = take(&pool, "a", Mode::Exclusive).await;
            let b = take(&pool, "b", Mode::Exclusive).await;
            let occupying = occupy(&db, &pool).await;
            let giving = tokio::spawn(b.release());
            let asking = asking(&pool, "c", Mode::Exclusive);
            let_them_ask().await;
            db.next([Step::Answer, step]);
            db.before().open();
            let occupying = occupying.await.unwrap().unwrap();
            let error = asking.await.unwrap().unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Unavailable);
            giving.await.unwrap().unwrap();
            assert_eq!(a.lost().get(), None);
            let rest = ["exclusive mutex:a", "exclusive mutex:occupying"];
            assert_eq!(
                db.held(),
                rest,
                "the give was given, the take was not taken"
            );
            let _b = take(&pool, "b", Mode::Exclusive).await;
            let _c = take_again(&pool, "c", Mode::Exclusive).await;
            assert_eq!((pool.sessions(), db.opened().get()), (1, 1));
            db.nothing_was_wrong();
            drop((a, occupying));
        }
    })
    .await;
}

#[tokio::test]
async fn a_round_trip_that_cannot_be_cleaned_up_loses_every_hold_of_its_session() {
    beside(ms(5000), async {
        let (db, pool) = pool(|_| {});
        let a = take(&pool, "a", Mode::Exclusive).await;
        let b = take(&pool, "b", Mode::Read).await;
        db.next([Step::FailAfterwards]);
        db.next_clean_up(CleanUp::Fail);
        let _asking = asking(&pool, "c", Mode::Exclusive);
        assert_eq!(a.lost().await, Loss::Disconnected);
        assert_eq!(b.lost().await, Loss::Disconnected);
        db.closed().reached(1).await;
        let _a = take_again(&pool, "a", Mode::Exclusive).await;
        assert_eq!(db.opened().get(), 2);
    })
    .await;
}

#[tokio::test]
async fn a_take_that_cannot_be_cleaned_up_is_put_again_if_that_could_help() {
    beside(ms(5000), async {
        let (db, pool) = pool(|_| {});
        db.next([Step::Fail]);
        db.next_clean_up(CleanUp::Fail);
        let a = ask(&pool, "a", Mode::Exclusive).await.unwrap();
        assert!(a.is_some());
        assert_eq!(db.opened().get(), 2);
        db.next([Step::Deny]);
        db.next_clean_up(CleanUp::Fail);
        let error = ask(&pool, "b", Mode::Exclusive).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Denied);
        assert_eq!(db.opened().get(), 2);
    })
    .await;
}

#[tokio::test]
async fn a_cleaning_up_that_never_ends_loses_every_hold_within_the_patience() {
    beside(ms(5000), async {
        let (db, pool) = pool(|options| options.patience = ms(150));
        let a = take(&pool, "a", Mode::Exclusive).await;
        db.next([Step::Fail]);
        db.next_clean_up(CleanUp::Never);
        let asked_at = Instant::now();
        let _asking = asking(&pool, "b", Mode::Exclusive);
        assert_eq!(a.lost().await, Loss::Disconnected);
        assert!(asked_at.elapsed() <= ms(150) + LATE, "too late");
    })
    .await;
}

#[tokio::test]
async fn a_session_that_does_not_answer_is_lost_within_the_patience() {
    beside(ms(5000), async {
        let (db, pool) = pool(|options| options.patience = ms(200));
        let a = take(&pool, "a", Mode::Exclusive).await;
        db.next([Step::Silence]);
        let asked_at = Instant::now();
        let asking = asking(&pool, "b", Mode::Exclusive);
        assert_eq!(a.lost().await, Loss::Disconnected);
        let after = asked_at.elapsed();
        assert!(after >= ms(200), "not before: {after:?}");
        assert!(
            after <= ms(200) + LATE,
            "too late: nor long after: {after:?}"
        );
        // Nobody knows what became of it, so it was asked for again, on another session.
        let b = asking.await.unwrap().unwrap();
        assert!(b.is_some_and(|b| b.lost().get().is_none()));
        assert_eq!(db.opened().get(), 2);
    })
    .await;
}

#[tokio::test]
async fn a_ping_that_is_not_answered_loses_the_session_too() {
    beside(ms(5000), async {
        let (db, pool) = pool(|options| {
            options.patience = ms(100);
            options.ping_every = ms(50);
        });
        let a = take(&pool, "a", Mode::Exclusive).await;
        db.pings().reached(3).await;
        assert_eq!(a.lost().get(), None);
        db.pings().close();
        assert_eq!(a.lost().await, Loss::Disconnected);
    })
    .await;
}

#[tokio::test]
async fn a_broken_connection_loses_every_hold_and_frees_its_keys() {
    beside(ms(5000), async {
        let (db, pool) = pool(|_| {});
        let a = take(&pool, "a", Mode::Exclusive).await;
        let b = take(&pool, "b", Mode::Upgradeable).await;
        db.break_all();
        assert_eq!(a.lost().await, Loss::Disconnected);
        assert_eq!(b.lost().await, Loss::Disconnected);
        db.closed().reached(1).await;
        // The guards still exist.
        let again = take_again(&pool, "a", Mode::Exclusive).await;
        let _b = take_again(&pool, "b", Mode::Upgradeable).await;
        assert_eq!(again.lost().get(), None);
        // And when they go, they take nothing with them that is not theirs.
        a.release().await.unwrap();
        drop(b);
        assert!(ask(&pool, "a", Mode::Exclusive).await.unwrap().is_none());
        assert_eq!(db.held(), ["exclusive mutex:a", "upgradeable rwlock:b"]);
        db.nothing_was_wrong();
    })
    .await;
}

#[tokio::test]
async fn a_hold_on_a_broken_connection_cannot_be_upgraded() {
    beside(ms(5000), async {
        let (db, pool) = pool(|_| {});
        let mut a = take(&pool, "a", Mode::Upgradeable).await;
        db.break_all();
        a.lost().await;
        db.closed().reached(1).await;
        let error = a.upgrade(Deadline::Never).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Lost);
    })
    .await;
}

#[tokio::test]
async fn a_server_that_grants_what_nobody_asked_for_is_not_believed() {
    beside(ms(5000), async {
        let (db, pool) = pool(|_| {});
        let a = take(&pool, "a", Mode::Exclusive).await;
        db.next([Step::Surplus]);
        let _asking = asking(&pool, "b", Mode::Exclusive);
        assert_eq!(a.lost().await, Loss::Disconnected);
    })
    .await;
}

#[tokio::test]
async fn a_driver_that_panics_loses_the_holds_of_its_session_and_no_more() {
    beside(ms(5000), async {
        let (db, pool) = pool(|_| {});
        let a = take(&pool, "a", Mode::Exclusive).await;
        db.next([Step::Panic]);
        if let Err(error) = ask(&pool, "b", Mode::Exclusive).await {
            assert!(error.is_transient(), "{error}");
        }
        assert_eq!(a.lost().await, Loss::Disconnected);
        let _a = take_again(&pool, "a", Mode::Exclusive).await;
        assert_eq!(db.opened().get(), 2);
    })
    .await;
}

#[tokio::test]
async fn a_hold_hears_of_its_loss_before_its_connection_is_gone() {
    alone(ms(5000), async {
        for step in [Step::Panic, Step::Deny] {
            let (db, pool) = pool(|_| {});
            let a = take(&pool, "a", Mode::Exclusive).await;
            db.next([step]);
            db.next_clean_up(CleanUp::Fail);
            let mut asked: Asked<'_> = Box::pin(ask(&pool, "b", Mode::Exclusive));
            db.before().close();
            assert!(poll_once(&mut asked).is_pending());
            in_the_act(db.before(), &mut pin!(db.closed().reached(1)), |_| {
                assert_eq!(a.lost().get(), Some(Loss::Disconnected), "{step:?}");
            });
        }
    })
    .await;
}
