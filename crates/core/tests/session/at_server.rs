//! Whoever is refused waits at the server, where sessions can.

mod bearing;
mod failing;
mod places;
mod stopping;

use crate::{
    Held,
    common::{alone, beside, db::Db, eventually, ms},
    exchange, on_news_only, pool, request, take, waiting, waiting_until, waits_at,
};
use lockwork_core::lock::{
    Deadline, Hold, Instant, Loss, Mode, Result,
    backend::session::{Options, Pool},
};
use std::{
    future::{Future, poll_fn},
    pin::pin,
    task::Poll,
};
use tokio::task::JoinHandle;

const A: &str = "exclusive mutex:a";
const B: &str = "exclusive mutex:b";

/// A pool whose sessions can wait at the server.
fn lining(change: impl FnOnce(&mut Options)) -> (Db, Pool<Db>) {
    let (db, pool) = pool(change);
    db.lets_wait(&[Mode::Exclusive, Mode::Upgradeable]);
    (db, pool)
}

/// Waits until exactly these wait at the server, in this order.
async fn in_line(db: &Db, who: &[&str]) {
    eventually(&format!("{who:?} stand in line"), || db.line() == who).await;
}

/// Somebody else has this mutex, and one of this pool waits for it at the server.
async fn lined_up(db: &Db, pool: &Pool<Db>, name: &str) -> JoinHandle<Result<Option<Held>>> {
    lined_up_until(db, pool, name, Deadline::Never).await
}

async fn lined_up_until(
    db: &Db,
    pool: &Pool<Db>,
    name: &str,
    deadline: Deadline,
) -> JoinHandle<Result<Option<Held>>> {
    let mut line = db.line();
    line.push(format!("exclusive mutex:{name}"));
    db.rival_takes(&format!("mutex:{name}"), Mode::Exclusive);
    let waiter = waiting_until(pool, name, Mode::Exclusive, deadline);
    eventually("it stands in line", || db.line() == line).await;
    waiter
}

async fn granted(waiter: JoinHandle<Result<Option<Held>>>) -> Held {
    waiter.await.unwrap().unwrap().unwrap()
}

fn waits(on: &[(u64, &str)]) -> Vec<(u64, String)> {
    on.iter()
        .map(|(session, who)| (*session, (*who).to_owned()))
        .collect()
}

#[tokio::test]
async fn one_who_was_refused_waits_on_a_session_that_holds_nothing() {
    beside(ms(5000), async {
        let (db, pool) = lining(on_news_only);
        let _held = take(&pool, "held", Mode::Exclusive).await;
        let waiter = lined_up(&db, &pool, "a").await;
        assert_eq!(db.waited(), waits(&[(2, A)]));
        assert_eq!(pool.sessions(), 2);
        db.rival_leaves();
        let a = granted(waiter).await;
        assert!(a.token().is_some());
        assert_eq!(db.held(), [A, "exclusive mutex:held"]);
        let asked = [&["exclusive mutex:held"], &[A]].map(|takes| exchange(1, &[], takes));
        assert_eq!(db.exchanges(), asked);
        assert!(db.waiting().is_empty());
        db.nothing_was_wrong();
    })
    .await;
}

#[tokio::test]
async fn a_grant_lives_on_the_session_that_waited_for_it() {
    beside(ms(5000), async {
        let (db, pool) = lining(on_news_only);
        let held = take(&pool, "held", Mode::Exclusive).await;
        let waiter = lined_up(&db, &pool, "a").await;
        db.rival_leaves();
        let a = granted(waiter).await;
        db.break_one(1);
        assert_eq!(held.lost().await, Loss::Disconnected);
        assert_eq!(a.lost().get(), None);
        db.break_one(2);
        assert_eq!(a.lost().await, Loss::Disconnected);
        db.closed().reached(2).await;
        assert!(db.held().is_empty());
        db.nothing_was_wrong();
    })
    .await;
}

#[tokio::test]
async fn a_session_that_gave_back_what_it_waited_for_waits_again() {
    beside(ms(5000), async {
        let (db, pool) = lining(|options| {
            on_news_only(options);
            options.places = 1;
        });
        for _ in 0..3 {
            let waiter = lined_up(&db, &pool, "a").await;
            db.rival_leaves();
            granted(waiter).await.release().await.unwrap();
            assert_eq!(db.exchanges().last(), Some(&exchange(2, &[A], &[])));
            assert!(db.held().is_empty());
        }
        assert_eq!(db.waited(), waits(&[(2, A); 3]));
        assert_eq!(db.opened().get(), 2);
        db.nothing_was_wrong();
    })
    .await;
}

#[tokio::test]
async fn one_who_is_let_in_at_once_needs_no_session_that_waits() {
    beside(ms(5000), async {
        let (db, pool) = lining(on_news_only);
        let a = granted(waiting(&pool, "a", Mode::Exclusive)).await;
        assert_eq!((pool.sessions(), db.waits().arrived()), (1, 0));
        a.release().await.unwrap();
        db.nothing_was_wrong();
    })
    .await;
}

#[tokio::test]
async fn modes_for_which_no_session_waits_are_tried_for_again() {
    beside(ms(5000), async {
        let (db, pool) = lining(on_news_only);
        db.rival_takes("rwlock:a", Mode::Write);
        let waiter = waiting(&pool, "a", Mode::Read);
        waits_at(&db, &["read rwlock:a"]).await;
        db.rival_leaves();
        db.tell("rwlock:a");
        let _a = granted(waiter).await;
        assert_eq!((pool.sessions(), db.waits().arrived()), (1, 0));
        db.nothing_was_wrong();
    })
    .await;
}

#[tokio::test]
async fn whoever_asks_once_does_not_wait_at_the_server() {
    beside(ms(5000), async {
        let (db, pool) = lining(|_| {});
        db.rival_takes("mutex:a", Mode::Exclusive);
        let once = waiting_until(&pool, "a", Mode::Exclusive, Deadline::Now).await;
        assert!(once.unwrap().unwrap().is_none());
        assert_eq!((pool.sessions(), db.waits().arrived()), (1, 0));
        db.nothing_was_wrong();
    })
    .await;
}

#[tokio::test]
async fn a_thousand_rounds_need_no_more_sessions_than_there_are_places() {
    alone(ms(20_000), async {
        let (db, one) = lining(|_| {});
        let other = Pool::new(db.clone(), crate::options(|_| {}));
        let mut all = Vec::new();
        for pool in [&one, &other] {
            for n in 0..8 {
                let pool = pool.clone();
                all.push(tokio::spawn(async move {
                    for _ in 0..63 {
                        let name = n.to_string();
                        let held = granted(waiting(&pool, &name, Mode::Exclusive)).await;
                        assert!(pool.sessions() <= 5);
                        tokio::task::yield_now().await;
                        held.release().await.unwrap();
                    }
                }));
            }
        }
        for one in all {
            one.await.unwrap();
        }
        assert!(db.waits().arrived() > 100, "they met");
        assert!(db.longest_line() <= 8);
        // One of each pool that tries, and four that wait.
        assert!(db.opened().get() <= 10, "{}", db.opened().get());
        assert_eq!((db.held().len(), db.line().len()), (0, 0));
        db.nothing_was_wrong();
    })
    .await;
}

#[tokio::test]
async fn a_grant_on_a_session_that_waited_can_be_upgraded() {
    beside(ms(5000), async {
        let (db, pool) = lining(on_news_only);
        db.rival_takes("rwlock:a", Mode::Write);
        let waiter = waiting(&pool, "a", Mode::Upgradeable);
        in_line(&db, &["upgradeable rwlock:a"]).await;
        db.rival_leaves();
        let mut a = granted(waiter).await;
        db.rival_takes("rwlock:a", Mode::Read);
        assert!(!a.upgrade(Deadline::Now).await.unwrap());
        db.rival_leaves();
        assert!(a.upgrade(Deadline::Now).await.unwrap());
        assert!(a.token().is_some());
        assert_eq!(db.held(), ["write rwlock:a"]);
        assert_eq!(
            db.exchanges().last(),
            Some(&exchange(2, &[], &["up rwlock:a"]))
        );
        a.release().await.unwrap();
        assert!(db.held().is_empty());
        let _next = lined_up(&db, &pool, "b").await;
        assert_eq!(db.opened().get(), 2);
        db.nothing_was_wrong();
    })
    .await;
}

#[tokio::test]
async fn a_wait_that_the_server_ends_is_asked_anew_until_the_deadline() {
    beside(ms(5000), async {
        let (db, pool) = lining(|options| {
            on_news_only(options);
            options.wait_at_most = ms(20);
        });
        db.rival_takes("mutex:a", Mode::Exclusive);
        let waiter = waiting(&pool, "a", Mode::Exclusive);
        db.waits().reached(5).await;
        db.rival_leaves();
        granted(waiter).await.release().await.unwrap();

        let (arrived, deadline) = (db.waits().arrived(), Deadline::At(Instant::now() + ms(100)));
        db.rival_takes("mutex:a", Mode::Exclusive);
        let waiter = waiting_until(&pool, "a", Mode::Exclusive, deadline).await;
        assert!(waiter.unwrap().unwrap().is_none());
        assert!(deadline.has_passed());
        assert!(db.waits().arrived() >= arrived + 2);
        assert_eq!(db.held(), [A], "somebody else's");
        assert!(db.line().is_empty());
        assert_eq!(db.opened().get(), 2);
        db.nothing_was_wrong();
    })
    .await;
}

/// Polls `work` so often, as it wakes, but not for long; then drops it.
async fn polled<T>(polls: usize, work: impl Future<Output = T>) -> Option<T> {
    let (mut work, mut rest) = (pin!(work), polls);
    let polled = poll_fn(|cx| match (work.as_mut().poll(cx), rest) {
        (Poll::Ready(done), _) => Poll::Ready(Some(done)),
        (Poll::Pending, 0..=1) => Poll::Ready(None),
        (Poll::Pending, _) => {
            rest -= 1;
            Poll::Pending
        }
    });
    tokio::time::timeout(ms(20), polled).await.ok().flatten()
}

#[tokio::test]
async fn an_acquire_that_is_dropped_at_any_poll_leaves_nothing() {
    beside(ms(10_000), async {
        let (db, pool) = lining(|options| options.places = 1);
        for polls in 1..=60 {
            db.rival_takes("mutex:a", Mode::Exclusive);
            let acquire = pool.acquire(request("a", Mode::Exclusive, Deadline::Never));
            // Somebody else lets go at some time.
            let leaves = async {
                if polls % 3 > 0 {
                    tokio::time::sleep(ms(polls % 7)).await;
                    db.rival_leaves();
                }
            };
            let polls = usize::try_from(polls % 5 + 1).unwrap();
            let (held, ()) = tokio::join!(polled(polls, acquire), leaves);
            drop(held);
            db.rival_leaves();
            eventually("all is given back", || db.held().is_empty()).await;
            in_line(&db, &[]).await;
            waits_at(&db, &[]).await;
        }
        let waiter = lined_up(&db, &pool, "b").await;
        db.rival_leaves();
        let _b = granted(waiter).await;
        assert_eq!(db.opened().get(), 2);
        db.nothing_was_wrong();
    })
    .await;
}
