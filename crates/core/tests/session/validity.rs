//! For how long a grant is valid.

use crate::{
    LATE, asking,
    common::{
        alone, beside,
        db::{CleanUp, Step},
        eventually, ms,
    },
    pool, take,
};
use lockwork_core::lock::{Hold, Instant, Loss, Mode};
use std::time::Duration;

const BEARS: Duration = ms(300);

#[tokio::test]
async fn a_grant_needs_no_news_where_the_connection_stands_for_it() {
    beside(ms(5000), async {
        let (_, pool) = pool(|_| {});
        let a = take(&pool, "a", Mode::Exclusive).await;
        assert_eq!(a.valid_until(), None);
    })
    .await;
}

#[tokio::test]
async fn a_grant_is_valid_for_as_long_as_the_server_bears_silence() {
    beside(ms(5000), async {
        let (db, pool) = pool(|options| {
            options.server_bears = Some(BEARS);
            options.ping_every = ms(50);
        });
        let asked_at = Instant::now();
        let a = take(&pool, "a", Mode::Exclusive).await;
        let until = a.valid_until().unwrap();
        assert!(until >= asked_at + BEARS - BEARS / 100 - ms(2));
        assert!(until <= Instant::now() + BEARS - BEARS / 100 - ms(2));
        for pings in [1, 5, 10] {
            db.pings().reached(pings).await;
            let moved = || a.valid_until().unwrap() > until;
            eventually("it has moved on with the ping", moved).await;
        }
        assert!(!a.valid_until().unwrap().has_passed());
        assert_eq!(a.lost().get(), None);
    })
    .await;
}

#[tokio::test]
async fn a_grant_is_valid_from_before_the_request_was_sent() {
    beside(ms(5000), async {
        let (db, pool) = pool(|options| options.server_bears = Some(ms(600)));
        db.before().close();
        let asking = asking(&pool, "a", Mode::Exclusive);
        db.before().reached(1).await;
        let received_at = Instant::now();
        tokio::time::sleep(ms(100)).await; // the server takes its time
        db.before().open();
        let a = asking.await.unwrap().unwrap().unwrap();
        assert!(a.valid_until().unwrap() <= received_at + ms(600) - ms(6) - ms(2));
    })
    .await;
}

#[tokio::test]
async fn a_session_whose_pings_hang_is_lost_when_its_time_is_up() {
    beside(ms(5000), async {
        let (db, pool) = pool(|options| {
            options.server_bears = Some(BEARS);
            options.ping_every = ms(60);
        });
        let a = take(&pool, "a", Mode::Exclusive).await;
        db.pings().close();
        db.pings().reached(1).await;
        let until = a.valid_until().unwrap();
        let loss = a.lost().await;
        let late = until.elapsed();
        assert!(until.has_passed(), "not before its time is up");
        assert!(late <= LATE, "too late: nor long after: {late:?}");
        assert_eq!(a.valid_until(), Some(until));
        assert_eq!(loss, Loss::Expired);
    })
    .await;
}

#[tokio::test]
async fn a_session_that_is_not_asked_in_time_is_lost_when_its_time_is_up() {
    beside(ms(5000), async {
        let (_, pool) = pool(|options| options.server_bears = Some(BEARS));
        let a = take(&pool, "a", Mode::Exclusive).await;
        let until = a.valid_until().unwrap();
        assert_eq!(a.lost().await, Loss::Expired);
        assert!(until.has_passed());
        assert!(until.elapsed() <= LATE, "too late");
    })
    .await;
}

#[tokio::test]
async fn an_answer_that_comes_after_the_end_of_its_session_heals_nothing() {
    alone(ms(5000), async {
        let (db, pool) = pool(|options| options.server_bears = Some(BEARS));
        let a = take(&pool, "a", Mode::Exclusive).await;
        let until = a.valid_until().unwrap();
        // The answer is there just before the end, but then the whole machine stops for a moment,
        // and when it is read the end has passed.
        let nearly = until.remaining().saturating_sub(ms(20));
        db.next([Step::Frozen(nearly, ms(40))]);
        let asking = asking(&pool, "b", Mode::Exclusive);
        eventually("its time is up", || until.has_passed()).await;
        let _ = asking.await.unwrap();
        assert_eq!(a.valid_until(), Some(until));
        assert_eq!(a.lost().await, Loss::Expired);
    })
    .await;
}

#[tokio::test]
async fn a_cleaning_up_does_not_outlast_what_the_server_bears() {
    beside(ms(5000), async {
        let (db, pool) = pool(|options| options.server_bears = Some(BEARS * 2));
        let a = take(&pool, "a", Mode::Exclusive).await;
        let until = a.valid_until().unwrap();
        db.next([Step::FailAfter(ms(500))]);
        db.next_clean_up(CleanUp::Never);
        let _asking = asking(&pool, "b", Mode::Exclusive);
        a.lost().await;
        let late = until.elapsed();
        assert!(late <= LATE, "too late: {late:?}");
    })
    .await;
}
