//! Whoever is refused and may wait is kept by the session, and tried for again.

use crate::{
    LATE, asking,
    common::{
        alone, beside,
        db::{Db, Exchange, Step},
        eventually, ms, mutex_id,
    },
    left, let_them_ask, occupy, on_news_only, pool, take, waiting, waiting_until, waits_at,
};
use lockwork_core::lock::{
    Deadline, Hold, Instant, Mode,
    backend::{Pace, session::Options},
};
use std::time::Duration;

const RIVAL: &str = "exclusive mutex:a";

fn ticking(options: &mut Options, most: Duration) {
    options.pace = Pace { least: ms(5), most };
}

/// How often the server was asked for `who` so far.
fn tries(db: &Db, who: &str) -> usize {
    let exchanges = db.exchanges();
    let tried = |exchange: &&Exchange| exchange.takes.iter().any(|take| take == who);
    exchanges.iter().filter(tried).count()
}

#[tokio::test]
async fn a_thousand_who_wait_cost_one_round_trip_per_tick() {
    alone(ms(20_000), async {
        let tick = ms(100);
        let (db, pool) = pool(|options| ticking(options, tick));
        let names: Vec<_> = (0..1000).map(|n| format!("n{n}")).collect();
        for name in &names {
            db.rival_takes(&format!("mutex:{name}"), Mode::Exclusive);
        }
        let waiting: Vec<_> = names
            .iter()
            .map(|name| waiting(&pool, name, Mode::Exclusive))
            .collect();
        eventually("all of them wait", || db.waiting().len() == 1000).await;
        let (before, begin) = (db.exchanges().len(), Instant::now());
        db.before().reached(before + 5).await;
        let (exchanges, time) = (db.exchanges(), begin.elapsed());
        let ticks = &exchanges[before..];
        assert!(ticks.iter().all(|exchange| exchange.takes.len() == 1000));
        let most = time.as_millis() / tick.as_millis() + 1;
        assert!(ticks.len() as u128 <= most, "{} in {time:?}", ticks.len());
        db.rival_leaves();
        for waiting in waiting {
            assert!(waiting.await.unwrap().unwrap().is_some());
        }
        assert_eq!(db.opened().get(), 1);
        db.nothing_was_wrong();
    })
    .await;
}

#[tokio::test]
async fn where_nobody_waits_nobody_is_tried_for() {
    beside(ms(5000), async {
        let (db, pool) = pool(|options| options.ping_every = ms(30));
        let _held = take(&pool, "held", Mode::Exclusive).await;
        db.rival_takes("mutex:a", Mode::Exclusive);
        let soon = Deadline::At(Instant::now() + ms(50));
        let refused = waiting_until(&pool, "a", Mode::Exclusive, soon).await;
        assert!(refused.unwrap().unwrap().is_none());
        waits_at(&db, &[]).await;
        let (exchanges, pings) = (db.exchanges().len(), db.pings().arrived());
        db.pings().reached(pings + 4).await;
        assert_eq!(db.exchanges().len(), exchanges);
    })
    .await;
}

#[tokio::test]
async fn one_who_begins_to_wait_is_not_tried_for_again_before_its_time() {
    beside(ms(5000), async {
        let (db, pool) = pool(|options| {
            ticking(options, ms(100));
            options.ping_every = ms(50);
        });
        db.rival_takes("mutex:a", Mode::Exclusive);
        db.rival_takes("mutex:b", Mode::Exclusive);
        let waiter = waiting(&pool, "a", Mode::Exclusive);
        waits_at(&db, &[RIVAL]).await;
        waiter.abort();
        waits_at(&db, &[]).await;
        let pings = db.pings().arrived();
        db.pings().reached(pings + 3).await; // its time would have come by now
        let (arrived, asked_at) = (db.before().arrived(), Instant::now());
        let waiter = waiting(&pool, "b", Mode::Exclusive);
        db.before().reached(arrived + 2).await;
        let after = asked_at.elapsed();
        assert!(after >= ms(100), "{after:?}");
        waiter.abort();
    })
    .await;
}

#[tokio::test]
async fn a_longest_pause_under_the_shortest_counts_as_that() {
    beside(ms(5000), async {
        let shortest = ms(20);
        let (db, pool) = pool(|options| {
            options.pace = Pace {
                least: shortest,
                most: Duration::ZERO,
            };
        });
        db.rival_takes("mutex:a", Mode::Exclusive);
        let begin = Instant::now();
        let waiter = waiting(&pool, "a", Mode::Exclusive);
        db.before().reached(6).await;
        let (tries, time) = (tries(&db, RIVAL), begin.elapsed());
        let most = time.as_millis() / shortest.as_millis() + 1;
        assert!(tries as u128 <= most, "{tries} in {time:?}");
        waiter.abort();
    })
    .await;
}

#[tokio::test]
async fn news_and_hints_try_for_their_key_at_once_and_for_no_other() {
    beside(ms(5000), async {
        for by_hint in [false, true] {
            let (db, pool) = pool(on_news_only);
            db.rival_takes("mutex:a", Mode::Exclusive);
            db.rival_takes("mutex:b", Mode::Exclusive);
            let a = waiting(&pool, "a", Mode::Exclusive);
            let b = waiting(&pool, "b", Mode::Exclusive);
            waits_at(&db, &[RIVAL, "exclusive mutex:b"]).await;
            db.rival_leaves();
            match by_hint {
                true => assert!(pool.hints().hint(&mutex_id("a"))),
                false => db.tell("mutex:a"),
            }
            assert!(a.await.unwrap().unwrap().is_some());
            assert_eq!(tries(&db, "exclusive mutex:b"), 1);
            db.tell("mutex:b");
            assert!(b.await.unwrap().unwrap().is_some());
            db.nothing_was_wrong();
        }
    })
    .await;
}

#[tokio::test]
async fn what_its_own_session_gives_back_is_tried_for_again_at_once() {
    beside(ms(5000), async {
        let (db, pool) = pool(on_news_only);
        let first = take(&pool, "a", Mode::Read).await;
        db.next([Step::Refuse]);
        let second = waiting(&pool, "a", Mode::Read);
        waits_at(&db, &["read rwlock:a"]).await;
        first.release().await.unwrap();
        assert!(second.await.unwrap().unwrap().is_some());
        assert!(db.waiting().is_empty());
    })
    .await;
}

#[tokio::test]
async fn news_that_come_before_a_refusal_is_told_are_not_lost() {
    beside(ms(5000), async {
        let (db, pool) = pool(on_news_only);
        db.rival_takes("mutex:a", Mode::Exclusive);
        db.after().close();
        let waiter = waiting(&pool, "a", Mode::Exclusive);
        db.after().reached(1).await; // refused, and not told
        db.rival_leaves();
        db.tell("mutex:a");
        db.after().open();
        assert!(waiter.await.unwrap().unwrap().is_some());
    })
    .await;
}

#[tokio::test]
async fn news_that_come_during_a_round_trip_for_others_are_not_lost() {
    beside(ms(5000), async {
        let (db, pool) = pool(on_news_only);
        db.rival_takes("mutex:a", Mode::Exclusive);
        let waiter = waiting(&pool, "a", Mode::Exclusive);
        waits_at(&db, &[RIVAL]).await;
        let occupying = occupy(&db, &pool).await;
        db.rival_leaves();
        db.tell("mutex:a");
        db.before().open();
        assert!(waiter.await.unwrap().unwrap().is_some());
        drop(occupying);
    })
    .await;
}

#[tokio::test]
async fn news_that_come_while_others_stand_in_line_are_not_lost() {
    beside(ms(5000), async {
        let (db, pool) = pool(|options| {
            on_news_only(options);
            options.batch = 1;
        });
        db.rival_takes("mutex:a", Mode::Exclusive);
        let waiter = waiting(&pool, "a", Mode::Exclusive);
        waits_at(&db, &[RIVAL]).await;
        let occupying = occupy(&db, &pool).await;
        let others = ["b", "c"].map(|name| asking(&pool, name, Mode::Exclusive));
        let_them_ask().await;
        // The first of the others is on its way, and the second in line, when the news come.
        let (before, after) = (db.before().arrived(), db.after().arrived());
        db.after().close();
        db.before().open();
        db.after().reached(after + 1).await;
        db.before().close();
        db.after().open();
        db.before().reached(before + 1).await;
        db.rival_leaves();
        db.tell("mutex:a");
        db.before().open();
        assert!(waiter.await.unwrap().unwrap().is_some());
        drop((occupying, others));
    })
    .await;
}

#[tokio::test]
async fn constant_traffic_on_other_keys_holds_up_neither_ticks_nor_news() {
    beside(ms(10_000), async {
        for on_news in [false, true] {
            let (db, pool) = pool(|options| match on_news {
                true => on_news_only(options),
                false => ticking(options, ms(20)),
            });
            db.rival_takes("mutex:a", Mode::Exclusive);
            let traffic: Vec<_> = (0..3)
                .map(|n| {
                    let pool = pool.clone();
                    tokio::spawn(async move {
                        loop {
                            drop(take(&pool, &format!("b{n}"), Mode::Exclusive).await);
                            tokio::task::yield_now().await;
                        }
                    })
                })
                .collect();
            let waiter = waiting(&pool, "a", Mode::Exclusive);
            waits_at(&db, &[RIVAL]).await;
            let (before, begin) = (tries(&db, RIVAL), Instant::now());
            if on_news {
                db.rival_leaves();
                db.tell("mutex:a");
                assert!(waiter.await.unwrap().unwrap().is_some());
                assert!(begin.elapsed() <= LATE, "too late");
            } else {
                eventually("five ticks", || tries(&db, RIVAL) >= before + 5).await;
                assert!(begin.elapsed() <= ms(5 * 20) + LATE, "too late");
                waiter.abort();
            }
            traffic.iter().for_each(tokio::task::JoinHandle::abort);
            db.nothing_was_wrong();
        }
    })
    .await;
}

#[tokio::test]
async fn news_of_what_nobody_waits_for_do_not_keep_a_session_from_its_pings() {
    beside(ms(5000), async {
        let (db, pool) = pool(|options| {
            options.server_bears = Some(ms(300));
            options.ping_every = ms(60);
        });
        let a = take(&pool, "a", Mode::Exclusive).await;
        let chatter = async {
            loop {
                db.tell("mutex:other");
                tokio::time::sleep(ms(10)).await;
            }
        };
        tokio::select! {
            () = chatter => {}
            loss = a.lost() => panic!("{loss:?}"),
            () = db.pings().reached(10) => {}
        }
        assert_eq!(a.lost().get(), None);
    })
    .await;
}

#[tokio::test]
async fn a_waiter_gets_its_lock_however_often_its_session_breaks() {
    beside(ms(5000), async {
        let (db, pool) = pool(|_| {});
        db.rival_takes("mutex:a", Mode::Exclusive);
        let waiter = waiting(&pool, "a", Mode::Exclusive);
        for sessions in 1..=4 {
            db.opened().reached(sessions).await;
            waits_at(&db, &[RIVAL]).await;
            db.break_all();
            db.closed().reached(sessions).await;
        }
        db.rival_leaves();
        assert!(waiter.await.unwrap().unwrap().is_some());
        assert!(left(&db).is_empty());
        db.nothing_was_wrong();
    })
    .await;
}
