//! Whoever stops waiting at the server is stopped there before it is answered.

use super::{A, B, granted, in_line, lined_up, lined_up_until, lining, waits};
use crate::{
    Asked, LATE,
    common::{
        alone, beside,
        db::{Stop, Wait},
        eventually, in_the_act, ms, poll_once,
    },
    on_news_only, request, take, take_again, waiting, waiting_until,
};
use lockwork_core::lock::{Deadline, ErrorKind, Hold, Instant, Mode, backend::session::Options};
use std::time::Duration;

const C: &str = "exclusive mutex:c";

fn one_place(options: &mut Options) {
    on_news_only(options);
    options.places = 1;
}

fn within(time: Duration) -> Deadline {
    Deadline::At(Instant::now() + time)
}

#[tokio::test]
async fn a_dropped_waiter_is_stopped_and_its_session_waits_for_others() {
    beside(ms(5000), async {
        let (db, pool) = lining(one_place);
        for _ in 0..3 {
            let waiter = lined_up(&db, &pool, "a").await;
            waiter.abort();
            assert!(waiter.await.unwrap_err().is_cancelled());
            in_line(&db, &[]).await;
            assert_eq!(db.held(), [A], "somebody else's");
            db.rival_leaves();
        }
        let _a = take_again(&pool, "a", Mode::Exclusive).await;
        assert_eq!((db.stops().arrived(), db.opened().get()), (3, 2));
        db.nothing_was_wrong();
    })
    .await;
}

#[tokio::test]
async fn a_waiter_whose_time_runs_out_is_stopped_before_it_is_answered() {
    beside(ms(5000), async {
        let (db, pool) = lining(one_place);
        db.stops().close();
        db.next_waits([Wait::Silence]);
        let deadline = within(ms(150));
        let waiter = lined_up_until(&db, &pool, "a", deadline).await;
        db.stops().reached(1).await;
        assert!(deadline.has_passed());
        tokio::time::sleep(ms(50)).await; // nothing tells that nothing is told
        assert!(!waiter.is_finished());
        db.stops().open();
        assert!(waiter.await.unwrap().unwrap().is_none());
        assert_eq!((db.line().len(), db.held()), (0, vec![A.to_owned()]));
        db.nothing_was_wrong();
    })
    .await;
}

#[tokio::test]
async fn what_is_granted_while_it_is_stopped_is_given_back() {
    beside(ms(5000), async {
        let (db, pool) = lining(one_place);
        let waiter = lined_up(&db, &pool, "a").await;
        db.next_stop(Stop::GrantFirst);
        waiter.abort();
        eventually("it was given back", || db.held().is_empty()).await;
        db.next_stop(Stop::GrantFirst);
        db.next_waits([Wait::Silence]);
        let waiter = lined_up_until(&db, &pool, "a", within(ms(100))).await;
        let a = granted(waiter).await;
        assert_eq!(db.held(), [A]);
        db.break_one(2);
        db.closed().reached(1).await;
        assert_eq!(a.lost().get(), None, "its last try was on another session");
        db.nothing_was_wrong();
    })
    .await;
}

#[tokio::test]
async fn a_stop_that_fails_or_never_ends_ends_its_session_and_no_other() {
    beside(ms(5000), async {
        for stop in [Stop::Fail, Stop::Never] {
            let (db, pool) = lining(|options| {
                one_place(options);
                options.patience = ms(200);
            });
            let held = take(&pool, "held", Mode::Exclusive).await;
            let deadline = Instant::now() + ms(100);
            db.next_stop(stop);
            db.next_waits([Wait::Silence]);
            let waiter = lined_up_until(&db, &pool, "a", Deadline::At(deadline)).await;
            assert!(waiter.await.unwrap().unwrap().is_none());
            assert_eq!((db.closed().get(), db.line().len()), (1, 0), "{stop:?}");
            let late = deadline.elapsed();
            assert!(late <= ms(200) + LATE, "too late: {late:?}");
            assert_eq!(held.lost().get(), None);
            db.rival_leaves();
            let _next = lined_up(&db, &pool, "a").await;
            assert_eq!(db.waited(), waits(&[(2, A), (3, A)]), "the place is free");
            db.nothing_was_wrong();
        }
    })
    .await;
}

#[tokio::test]
async fn a_waiter_that_could_not_be_stopped_is_answered_when_its_connection_is_gone() {
    alone(ms(5000), async {
        for stop in [Stop::Fail, Stop::Never] {
            let (db, pool) = lining(|options| {
                one_place(options);
                options.patience = ms(300);
            });
            db.rival_takes("mutex:a", Mode::Exclusive);
            db.next_waits([Wait::Silence]);
            db.next_stop(stop);
            db.stops().close();
            let request = request("a", Mode::Exclusive, within(ms(100)));
            let mut a: Asked<'_> = Box::pin(pool.acquire(request));
            eventually("it is to be stopped", || {
                assert!(poll_once(&mut a).is_pending());
                db.stops().arrived() == 1
            })
            .await;
            in_the_act(db.stops(), &mut a, |_| {
                assert_eq!((db.closed().get(), db.line().len()), (1, 0), "{stop:?}");
            });
            assert!(a.await.unwrap().is_none());
        }
    })
    .await;
}

#[tokio::test]
async fn a_dropped_waiter_whose_stop_fails_leaves_nothing() {
    beside(ms(5000), async {
        let (db, pool) = lining(one_place);
        let waiter = lined_up(&db, &pool, "a").await;
        db.next_stop(Stop::Fail);
        waiter.abort();
        db.closed().reached(1).await;
        assert!(db.line().is_empty());
        let _b = lined_up(&db, &pool, "b").await;
        db.nothing_was_wrong();
    })
    .await;
}

#[tokio::test]
async fn whoever_leaves_before_its_session_has_begun_to_wait_does_not_wait() {
    beside(ms(5000), async {
        let (db, pool) = lining(|options| {
            one_place(options);
            options.ping_every = ms(100);
        });
        lined_up(&db, &pool, "c").await.abort();
        in_line(&db, &[]).await;
        // The one that tries is always asked for something else, and so it is the other that pings.
        let traffic = tokio::spawn({
            let pool = pool.clone();
            async move {
                loop {
                    let x = take(&pool, "x", Mode::Exclusive).await;
                    x.release().await.unwrap();
                }
            }
        });
        let pings = db.pings().arrived();
        db.pings().close();
        db.pings().reached(pings + 1).await;
        db.rival_takes("mutex:a", Mode::Exclusive);
        let a = waiting(&pool, "a", Mode::Exclusive);
        // Whoever is refused hears of it before the others are asked for twice more.
        eventually("it was refused, and has the place", || {
            let exchanges = db.exchanges().into_iter();
            let since = exchanges.skip_while(|exchange| !exchange.takes.contains(&A.to_owned()));
            since.count() > 4
        })
        .await;
        a.abort();
        tokio::time::sleep(ms(50)).await; // nothing tells that the session was told
        db.pings().open();
        let _b = lined_up(&db, &pool, "b").await;
        assert_eq!(db.waited(), waits(&[(2, C), (2, B)]));
        traffic.abort();
        db.nothing_was_wrong();
    })
    .await;
}

#[tokio::test]
async fn whoever_leaves_before_its_session_is_open_leaves_that_to_others() {
    beside(ms(5000), async {
        let (db, pool) = lining(one_place);
        let _held = take(&pool, "held", Mode::Exclusive).await;
        db.door().close();
        db.rival_takes("mutex:a", Mode::Exclusive);
        let a = waiting(&pool, "a", Mode::Exclusive);
        db.door().reached(2).await;
        assert_eq!(pool.sessions(), 2, "it counts");
        a.abort();
        db.rival_takes("mutex:b", Mode::Exclusive);
        let b = waiting(&pool, "b", Mode::Exclusive);
        db.before().reached(3).await;
        db.door().open();
        in_line(&db, &[B]).await;
        db.rival_leaves();
        let _b = granted(b).await;
        assert_eq!(db.waited(), waits(&[(2, B)]));
        assert_eq!(pool.sessions(), 2);
        db.nothing_was_wrong();
    })
    .await;
}

#[tokio::test]
async fn a_waiter_whose_time_runs_out_before_its_session_is_open_was_refused() {
    beside(ms(5000), async {
        let (db, pool) = lining(one_place);
        let _held = take(&pool, "held", Mode::Exclusive).await;
        db.door().close();
        db.rival_takes("mutex:a", Mode::Exclusive);
        let late = waiting_until(&pool, "a", Mode::Exclusive, within(ms(100)));
        db.door().reached(2).await;
        assert!(late.await.unwrap().unwrap().is_none());
        db.rival_leaves();
        let _a = take(&pool, "a", Mode::Exclusive).await;
        db.door().open();
        db.opened().reached(2).await;
        let _b = lined_up(&db, &pool, "b").await;
        assert_eq!(db.waited(), waits(&[(2, B)]));
        db.nothing_was_wrong();
    })
    .await;
}

#[tokio::test]
async fn a_deadline_counts_while_the_session_that_tries_is_opened() {
    beside(ms(5000), async {
        let (db, pool) = lining(on_news_only);
        db.door().close();
        let begin = Instant::now();
        let late = waiting_until(&pool, "a", Mode::Exclusive, within(ms(50))).await;
        assert!(
            begin.elapsed() <= ms(50) + LATE,
            "too late: {:?}",
            begin.elapsed()
        );
        let error = late.unwrap().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unavailable);
        db.door().open();
        let _a = take(&pool, "a", Mode::Exclusive).await;
        assert_eq!(db.opened().get(), 1);
    })
    .await;
}
