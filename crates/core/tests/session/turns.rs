//! Whoever gave back what others wait for lets them go first.

use crate::{
    Held, LATE,
    common::{beside, db::Db, ms},
    on_news_only, pool, request, take,
};
use lockwork_core::lock::{Deadline, Hold, Instant, Mode, backend::session::Pool};
use std::time::Duration;

const ROUND_TRIP: Duration = ms(60);

/// A pool that has just given back what others wait for, in a round trip of at least this length.
async fn gave_way() -> (Db, Pool<Db>) {
    let (db, pool) = pool(on_news_only);
    db.others_want("mutex:a");
    let a = take(&pool, "a", Mode::Exclusive).await;
    let arrived = db.before().arrived();
    db.before().close();
    let giving = tokio::spawn(a.release());
    db.before().reached(arrived + 1).await;
    tokio::time::sleep(ROUND_TRIP).await; // the server takes its time
    db.before().open();
    giving.await.unwrap().unwrap();
    (db, pool)
}

/// Takes what is free, and how long that took.
async fn timed(pool: &Pool<Db>, name: &str, deadline: Deadline) -> (Held, Duration) {
    let begin = Instant::now();
    let held = pool.acquire(request(name, Mode::Exclusive, deadline)).await;
    (held.unwrap().unwrap(), begin.elapsed())
}

#[tokio::test]
async fn whoever_gave_back_what_others_wait_for_stays_away_for_two_round_trips() {
    beside(ms(5000), async {
        let (_, pool) = gave_way().await;
        let (_a, after) = timed(&pool, "a", Deadline::Never).await;
        assert!(after >= ROUND_TRIP * 2 - ms(10), "{after:?}");
        assert!(after <= ROUND_TRIP * 4 + LATE, "too late: {after:?}");
    })
    .await;
}

#[tokio::test]
async fn a_try_for_what_others_wait_for_does_not_stay_away() {
    beside(ms(5000), async {
        let (_, pool) = gave_way().await;
        let (_a, after) = timed(&pool, "a", Deadline::Now).await;
        assert!(after < ROUND_TRIP, "too late: {after:?}");
    })
    .await;
}

#[tokio::test]
async fn staying_away_from_one_key_is_not_staying_away_from_another() {
    beside(ms(5000), async {
        let (_, pool) = gave_way().await;
        let (_b, after) = timed(&pool, "b", Deadline::Never).await;
        assert!(after < ROUND_TRIP, "too late: {after:?}");
    })
    .await;
}

#[tokio::test]
async fn nobody_stays_away_past_the_deadline() {
    beside(ms(5000), async {
        let (db, pool) = gave_way().await;
        let soon = Deadline::At(Instant::now() + ms(20));
        let (_a, after) = timed(&pool, "a", soon).await;
        assert!(after < ROUND_TRIP * 2 - ms(20), "too late: {after:?}");
        assert_eq!(db.exchanges().len(), 3, "it has its one try");
    })
    .await;
}

#[tokio::test]
async fn what_nobody_else_waits_for_is_asked_for_again_at_once() {
    beside(ms(5000), async {
        let (db, pool) = gave_way().await;
        let (b, _) = timed(&pool, "b", Deadline::Now).await;
        b.release().await.unwrap();
        let (_b, after) = timed(&pool, "b", Deadline::Never).await;
        assert!(after < ROUND_TRIP, "too late: {after:?}");
        db.nothing_was_wrong();
    })
    .await;
}
