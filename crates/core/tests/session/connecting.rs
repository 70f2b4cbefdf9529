//! Sessions that do not come about, or do not live to hear.

use crate::{
    Asked, LATE, ask, asking,
    common::{
        alone, beside,
        db::{CleanUp, Step},
        in_the_act, ms,
    },
    exchange, let_them_ask, occupy, pool, take_again,
};
use lockwork_core::lock::{Error, ErrorKind, Instant, Mode};

#[tokio::test]
async fn a_driver_that_panics_while_it_connects_is_asked_to_connect_again() {
    beside(ms(5000), async {
        let (db, pool) = pool(|_| {});
        db.panic_at_the_door();
        let _ = ask(&pool, "a", Mode::Exclusive).await;
        let _a = take_again(&pool, "a", Mode::Exclusive).await;
        assert_eq!(db.door().arrived(), 2);
    })
    .await;
}

#[tokio::test]
async fn a_server_that_lets_nobody_in_says_so_to_everybody_who_asks() {
    beside(ms(5000), async {
        let (db, pool) = pool(|_| {});
        db.refuse(1);
        db.door().close();
        let asking: Vec<_> = ["a", "b", "c"]
            .iter()
            .map(|name| asking(&pool, name, Mode::Exclusive))
            .collect();
        let_them_ask().await;
        assert_eq!(pool.sessions(), 1, "they wait for one session together");
        db.door().open();
        for asking in asking {
            let error = asking.await.unwrap().unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Denied);
        }
        assert_eq!(pool.sessions(), 0);
        // Nothing of it stays.
        let _a = take_again(&pool, "a", Mode::Exclusive).await;
        assert_eq!(db.door().arrived(), 2);
    })
    .await;
}

#[tokio::test]
async fn a_server_that_never_lets_us_in_is_given_up_within_the_patience() {
    beside(ms(5000), async {
        let (db, pool) = pool(|options| options.patience = ms(100));
        db.door().close();
        let asked_at = Instant::now();
        let error: Error = ask(&pool, "a", Mode::Exclusive).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unavailable);
        assert!(asked_at.elapsed() <= ms(100) + LATE, "too late");
    })
    .await;
}

#[tokio::test]
async fn a_request_that_its_session_did_not_live_to_hear_is_put_once_more() {
    beside(ms(5000), async {
        let (db, pool) = pool(|_| {});
        let occupying = occupy(&db, &pool).await;
        let asking = asking(&pool, "a", Mode::Exclusive);
        let_them_ask().await;
        db.next([Step::Deny]);
        db.next_clean_up(CleanUp::Fail);
        db.before().open();
        assert!(occupying.await.unwrap().is_err(), "it was under way");
        let held = asking.await.unwrap().unwrap();
        assert!(held.is_some(), "it was not");
        assert_eq!(db.opened().get(), 2);
        assert_eq!(
            db.exchanges(),
            [
                exchange(1, &[], &["exclusive mutex:occupying"]),
                exchange(2, &[], &["exclusive mutex:a"])
            ]
        );
    })
    .await;
}

#[tokio::test]
async fn a_request_that_a_silent_session_dropped_is_not_put_to_that_session_again() {
    alone(ms(5000), async {
        let (db, pool) = pool(|options| options.patience = ms(60));
        db.next([Step::Silence]);
        let mut asked: Asked<'_> = Box::pin(ask(&pool, "a", Mode::Exclusive));
        // It asks again at once, and the silent session may not have ended yet.
        in_the_act(db.before(), &mut asked, |answer| {
            assert!(answer.is_pending())
        });
        assert!(asked.await.unwrap().is_some());
        assert_eq!(db.opened().get(), 2);
    })
    .await;
}

#[tokio::test]
async fn a_request_that_two_sessions_did_not_answer_is_unavailable() {
    beside(ms(5000), async {
        let (db, pool) = pool(|options| options.patience = ms(60));
        db.next([Step::Silence, Step::Silence, Step::Silence]);
        let error = ask(&pool, "a", Mode::Exclusive).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unavailable);
        assert!(error.is_transient());
        assert_eq!(db.opened().get(), 2);
    })
    .await;
}
