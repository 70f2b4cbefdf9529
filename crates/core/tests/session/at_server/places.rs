//! Few wait at the server, and the others meanwhile as they do where nobody can.

use super::{A, B, granted, in_line, lined_up, lining};
use crate::{
    common::{beside, eventually, ms, poll_once},
    left, on_news_only, request, take, waiting, waits_at,
};
use lockwork_core::lock::{
    Deadline, Hold, Mode,
    backend::{Pace, session::Options},
};

/// Whoever waits without a place is tried for again so soon.
fn pacing(options: &mut Options) {
    options.pace = Pace {
        least: ms(10),
        most: ms(20),
    };
}

const C: &str = "exclusive mutex:c";

#[tokio::test]
async fn whoever_finds_no_place_is_tried_for_and_comes_to_the_first_that_is_free() {
    beside(ms(5000), async {
        let (db, pool) = lining(|options| {
            pacing(options);
            options.places = 2;
        });
        let a = lined_up(&db, &pool, "a").await;
        let b = lined_up(&db, &pool, "b").await;
        db.rival_takes("mutex:c", Mode::Exclusive);
        let c = waiting(&pool, "c", Mode::Exclusive);
        waits_at(&db, &[C]).await;
        let arrived = db.before().arrived();
        db.before().reached(arrived + 3).await;
        assert_eq!(db.line(), [A, B]);
        a.abort();
        in_line(&db, &[B, C]).await;
        assert_eq!(
            left(&db),
            [C],
            "the server heard that it waits elsewhere now"
        );
        assert!(db.waiting().is_empty());
        db.rival_leaves();
        let _held = (granted(b).await, granted(c).await);
        assert_eq!((db.longest_line(), db.opened().get()), (2, 3));
        db.nothing_was_wrong();
    })
    .await;
}

#[tokio::test]
async fn whoever_finds_no_place_may_be_let_in_before_there_is_one() {
    beside(ms(5000), async {
        let (db, pool) = lining(|options| options.places = 1);
        let _a = lined_up(&db, &pool, "a").await;
        db.rival_takes("mutex:b", Mode::Exclusive);
        let b = waiting(&pool, "b", Mode::Exclusive);
        waits_at(&db, &[B]).await;
        db.rival_gives("mutex:b");
        let _b = granted(b).await;
        assert_eq!((db.line(), db.opened().get()), (vec![A.to_owned()], 2));
        db.nothing_was_wrong();
    })
    .await;
}

#[tokio::test]
async fn where_there_are_no_places_nobody_waits_at_the_server() {
    beside(ms(5000), async {
        let (db, pool) = lining(|options| options.places = 0);
        db.rival_takes("mutex:a", Mode::Exclusive);
        let waiter = waiting(&pool, "a", Mode::Exclusive);
        waits_at(&db, &[A]).await;
        db.rival_leaves();
        let _a = granted(waiter).await;
        assert_eq!((db.waits().arrived(), pool.sessions()), (0, 1));
    })
    .await;
}

#[tokio::test]
async fn a_grant_has_its_place_until_it_is_given_back() {
    beside(ms(5000), async {
        let (db, pool) = lining(|options| {
            on_news_only(options);
            options.places = 1;
        });
        let waiter = lined_up(&db, &pool, "a").await;
        db.rival_leaves();
        let a = granted(waiter).await;
        db.rival_takes("mutex:b", Mode::Exclusive);
        let b = waiting(&pool, "b", Mode::Exclusive);
        waits_at(&db, &[B]).await;
        a.release().await.unwrap();
        in_line(&db, &[B]).await;
        db.rival_leaves();
        drop(granted(b).await);
        let _a = lined_up(&db, &pool, "a").await;
        assert_eq!(db.opened().get(), 2);
        db.nothing_was_wrong();
    })
    .await;
}

#[tokio::test]
async fn a_lost_grant_has_no_place() {
    beside(ms(5000), async {
        let (db, pool) = lining(|options| {
            on_news_only(options);
            options.places = 1;
        });
        let waiter = lined_up(&db, &pool, "a").await;
        db.rival_leaves();
        let a = granted(waiter).await;
        db.rival_takes("mutex:b", Mode::Exclusive);
        let _b = waiting(&pool, "b", Mode::Exclusive);
        waits_at(&db, &[B]).await;
        db.break_one(2);
        in_line(&db, &[B]).await;
        assert!(a.lost().get().is_some());
        db.nothing_was_wrong();
    })
    .await;
}

#[tokio::test]
async fn a_place_that_is_free_before_another_session_is_open_is_taken() {
    beside(ms(5000), async {
        let (db, pool) = lining(|options| {
            on_news_only(options);
            options.places = 1;
            options.capacity = 1;
        });
        let a = lined_up(&db, &pool, "a").await;
        db.rival_takes("mutex:b", Mode::Exclusive);
        let arrived = db.after().arrived();
        db.after().close();
        let request = request("b", Mode::Exclusive, Deadline::Never);
        let asked = pool.clone();
        let mut b = Box::pin(async move { asked.acquire(request).await });
        assert!(poll_once(&mut b).is_pending());
        db.after().reached(arrived + 1).await; // refused, and not told
        db.after().open();
        // On the session that refused, and beside it: none has room now.
        let _x = take(&pool, "x", Mode::Exclusive).await;
        let _y = take(&pool, "y", Mode::Exclusive).await;
        let arrived = db.door().arrived();
        db.door().close();
        eventually("a session is to be opened for it", || {
            assert!(poll_once(&mut b).is_pending());
            db.door().arrived() > arrived
        })
        .await;
        a.abort();
        let b = tokio::spawn(b);
        in_line(&db, &[B]).await;
        db.rival_leaves();
        let _b = granted(b).await;
        db.door().open();
        db.nothing_was_wrong();
    })
    .await;
}

#[tokio::test]
async fn there_may_be_as_many_places_as_anybody_can_say() {
    beside(ms(5000), async {
        let (db, pool) = lining(|options| options.places = usize::MAX);
        let waiter = lined_up(&db, &pool, "a").await;
        db.rival_leaves();
        let _a = granted(waiter).await;
    })
    .await;
}
