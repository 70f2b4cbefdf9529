//! Many locks on few connections: who shares one, what rides together, and what is lost when.

#![allow(
    clippy::unwrap_used,
    reason = "a test says what it expects by unwrapping it"
)]

mod common;

use common::{
    alone, beside, block_on,
    db::{CleanUp, Db, Exchange, Step},
    events::Gate,
    eventually, in_the_act, ms, mutex_id, poll_once,
    spy::{self, GrantsAll},
    within_thread,
};
use lockwork_core::lock::{
    Deadline, Error, ErrorKind, Hold, Instant, Loss, Mode, Name, Request, Result,
    backend::{
        Owned, Pace,
        session::{Options, Pool, SessionHold},
    },
};
use std::{
    future::{Future, IntoFuture},
    pin::{Pin, pin},
    sync::{
        atomic::{AtomicBool, Ordering},
        mpsc::channel,
    },
    task::Poll,
    thread,
    time::Duration,
};
use tokio::task::JoinHandle;

type Held = Owned<SessionHold<String>>;

/// A busy machine may be so late.
const LATE: Duration = ms(150);

fn options(change: impl FnOnce(&mut Options)) -> Options {
    let mut options = Options::default();
    options.pace = Pace {
        least: ms(5),
        most: ms(10),
    };
    change(&mut options);
    options
}

fn pool(change: impl FnOnce(&mut Options)) -> (Db, Pool<Db>) {
    let db = Db::default();
    (db.clone(), Pool::new(db, options(change)))
}

fn request(name: &str, mode: Mode, deadline: Deadline) -> Request {
    Request::new(Name::new(name).unwrap(), mode, deadline)
}

/// Asks once.
async fn ask(pool: &Pool<Db>, name: &str, mode: Mode) -> Result<Option<Held>> {
    pool.acquire(request(name, mode, Deadline::Now)).await
}

/// Takes what must be free.
async fn take(pool: &Pool<Db>, name: &str, mode: Mode) -> Held {
    let held = ask(pool, name, mode).await.unwrap();
    held.unwrap_or_else(|| panic!("{name} is free"))
}

/// Takes what is free, or will be in a moment: a session that ended frees its keys after it has
/// told its holds.
async fn take_again(pool: &Pool<Db>, name: &str, mode: Mode) -> Held {
    let held = pool.acquire(request(name, mode, Deadline::Never)).await;
    held.unwrap().unwrap()
}

/// Asks once, in a task of its own.
fn asking(pool: &Pool<Db>, name: &str, mode: Mode) -> JoinHandle<Result<Option<Held>>> {
    let (pool, name) = (pool.clone(), name.to_owned());
    tokio::spawn(async move { ask(&pool, &name, mode).await })
}

fn exchange(session: u64, gives: &[&str], takes: &[&str]) -> Exchange {
    let owned = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
    Exchange {
        session,
        gives: owned(gives),
        takes: owned(takes),
    }
}

/// Blocks the first session inside an exchange, so that what follows has to wait.
async fn occupy(db: &Db, pool: &Pool<Db>) -> JoinHandle<Result<Option<Held>>> {
    let arrived = db.before().arrived();
    db.before().close();
    let occupying = asking(pool, "occupying", Mode::Exclusive);
    db.before().reached(arrived + 1).await;
    occupying
}

/// Lets tasks of this thread, which nothing else runs on, come to where they wait.
async fn let_them_ask() {
    for _ in 0..10 {
        tokio::task::yield_now().await;
    }
}

// Sharing.

#[tokio::test]
async fn a_pool_opens_nothing_before_it_is_asked() {
    beside(ms(5000), async {
        let (db, pool) = pool(|_| {});
        assert_eq!((pool.sessions(), db.opened().get()), (0, 0));
        let _held = take(&pool, "a", Mode::Exclusive).await;
        assert_eq!((pool.sessions(), db.opened().get()), (1, 1));
    })
    .await;
}

#[tokio::test]
async fn many_locks_share_one_session() {
    beside(ms(5000), async {
        let (db, pool) = pool(|_| {});
        let mut held = Vec::new();
        for n in 0..100 {
            held.push(take(&pool, &n.to_string(), Mode::Exclusive).await);
        }
        assert_eq!((pool.sessions(), db.opened().get()), (1, 1));
        assert_eq!(db.held().len(), 100);
        for hold in held {
            hold.release().await.unwrap();
        }
        assert!(db.held().is_empty());
        db.nothing_was_wrong();
    })
    .await;
}

#[tokio::test]
async fn a_session_at_its_capacity_gets_company() {
    beside(ms(5000), async {
        let (db, pool) = pool(|options| options.capacity = 2);
        let a = take(&pool, "a", Mode::Exclusive).await;
        let _b = take(&pool, "b", Mode::Exclusive).await;
        assert_eq!(db.opened().get(), 1);
        let _c = take(&pool, "c", Mode::Exclusive).await;
        assert_eq!((pool.sessions(), db.opened().get()), (2, 2));
        a.release().await.unwrap();
        let _d = take(&pool, "d", Mode::Exclusive).await;
        assert_eq!(db.opened().get(), 2, "there is room on the first again");
        assert_eq!(db.exchanges().last().unwrap().session, 1);
    })
    .await;
}

#[tokio::test]
async fn a_refused_request_takes_no_room() {
    beside(ms(5000), async {
        let (db, pool) = pool(|options| options.capacity = 1);
        db.rival_takes("mutex:a", Mode::Exclusive);
        for _ in 0..5 {
            assert!(ask(&pool, "a", Mode::Exclusive).await.unwrap().is_none());
        }
        db.next([Step::Fail]);
        assert!(ask(&pool, "b", Mode::Exclusive).await.is_err());
        let _c = take(&pool, "c", Mode::Exclusive).await;
        assert_eq!(db.opened().get(), 1);
    })
    .await;
}

// Batches.

#[tokio::test]
async fn a_lone_caller_does_not_wait_for_company() {
    beside(ms(5000), async {
        let (db, pool) = pool(|_| {});
        let mut fastest = ms(5000);
        for n in 1..=10 {
            let asked_at = Instant::now();
            let held = take(&pool, "a", Mode::Exclusive).await;
            fastest = fastest.min(asked_at.elapsed());
            assert_eq!(db.before().arrived(), 2 * n - 1);
            held.release().await.unwrap();
        }
        assert!(fastest < ms(3), "{fastest:?}");
    })
    .await;
}

#[tokio::test]
async fn what_is_asked_during_one_round_trip_rides_in_the_next() {
    beside(ms(5000), async {
        let (db, pool) = pool(|_| {});
        let occupying = occupy(&db, &pool).await;
        let names: Vec<_> = (0..50).map(|n| format!("n{n}")).collect();
        let asking: Vec<_> = names
            .iter()
            .map(|name| asking(&pool, name, Mode::Exclusive))
            .collect();
        let_them_ask().await;
        assert_eq!(db.exchanges().len(), 1, "nobody overtakes a round trip");
        db.before().open();
        let mut held = vec![occupying.await.unwrap().unwrap()];
        for asking in asking {
            held.push(asking.await.unwrap().unwrap());
        }
        assert!(held.iter().all(Option::is_some));
        let exchanges = db.exchanges();
        assert_eq!(exchanges.len(), 2);
        assert_eq!(exchanges[1].takes.len(), 50);
        db.nothing_was_wrong();
    })
    .await;
}

#[tokio::test]
async fn a_round_trip_carries_no_more_keys_than_it_may() {
    beside(ms(5000), async {
        let (db, pool) = pool(|options| options.batch = 20);
        let occupying = occupy(&db, &pool).await;
        let names: Vec<_> = (0..50).map(|n| format!("n{n}")).collect();
        let asking: Vec<_> = names
            .iter()
            .map(|name| asking(&pool, name, Mode::Exclusive))
            .collect();
        let_them_ask().await;
        db.before().open();
        drop(occupying.await.unwrap());
        for asking in asking {
            assert!(asking.await.unwrap().unwrap().is_some());
        }
        let takes = |exchange: &Exchange| exchange.takes.len();
        let sizes: Vec<_> = db.exchanges()[1..].iter().map(takes).collect();
        assert_eq!(sizes[..3], [20, 20, 10]);
    })
    .await;
}

#[tokio::test]
async fn gives_and_takes_ride_together() {
    beside(ms(5000), async {
        let (db, pool) = pool(|_| {});
        let a = take(&pool, "a", Mode::Exclusive).await;
        let occupying = occupy(&db, &pool).await;
        let giving = tokio::spawn(a.release());
        let asking = asking(&pool, "b", Mode::Exclusive);
        let_them_ask().await;
        db.before().open();
        giving.await.unwrap().unwrap();
        let b = asking.await.unwrap().unwrap();
        assert_eq!(
            db.exchanges()[2],
            exchange(1, &["exclusive mutex:a"], &["exclusive mutex:b"])
        );
        drop((b, occupying));
    })
    .await;
}

#[tokio::test]
async fn a_key_is_not_given_and_taken_in_one_round_trip() {
    beside(ms(5000), async {
        let (db, pool) = pool(|_| {});
        let reader = take(&pool, "k", Mode::Read).await;
        let occupying = occupy(&db, &pool).await;
        // Readers go together, so nothing but the batch keeps these apart.
        let giving = tokio::spawn(reader.release());
        let_them_ask().await;
        let first = asking(&pool, "k", Mode::Read);
        let_them_ask().await;
        let second = asking(&pool, "k", Mode::Read);
        let_them_ask().await;
        db.before().open();
        giving.await.unwrap().unwrap();
        let readers = (first.await.unwrap(), second.await.unwrap());
        let key = ["read rwlock:k"];
        assert_eq!(
            db.exchanges()[2..],
            [
                exchange(1, &key, &[]),
                exchange(1, &[], &key),
                exchange(1, &[], &key)
            ]
        );
        db.nothing_was_wrong();
        drop((readers, occupying));
    })
    .await;
}

#[tokio::test]
async fn each_caller_gets_its_own_answer_in_whatever_order_they_come() {
    beside(ms(5000), async {
        let (db, pool) = pool(|_| {});
        db.rival_takes("mutex:n3", Mode::Exclusive);
        let occupying = occupy(&db, &pool).await;
        let asking: Vec<_> = (0..6)
            .map(|n| asking(&pool, &format!("n{n}"), Mode::Exclusive))
            .collect();
        let_them_ask().await;
        db.before().open();
        let occupying = occupying.await.unwrap().unwrap().unwrap();
        // The database counts its grants, in the order they were asked for: 1 is occupying.
        let base = occupying.token().unwrap().get();
        let mut tokens = Vec::new();
        for asking in asking {
            let held = asking.await.unwrap().unwrap();
            tokens.push(held.map(|held| held.token().unwrap().get() / base));
        }
        assert_eq!(tokens, [Some(2), Some(3), Some(4), None, Some(5), Some(6)]);
    })
    .await;
}

// Exclusion.

#[tokio::test]
async fn a_session_that_would_grant_itself_the_same_key_again_is_not_asked() {
    beside(ms(5000), async {
        let (db, pool) = pool(|_| {});
        let held = take(&pool, "a", Mode::Exclusive).await;
        assert!(ask(&pool, "a", Mode::Exclusive).await.unwrap().is_none());
        assert_eq!(db.exchanges().len(), 1);
        held.release().await.unwrap();
        let held = take(&pool, "a", Mode::Exclusive).await;
        drop(held);
        db.nothing_was_wrong();
    })
    .await;
}

#[tokio::test]
async fn a_key_held_on_one_session_is_not_asked_for_on_another() {
    beside(ms(5000), async {
        let (db, pool) = pool(|options| options.capacity = 1);
        let exclusive = take(&pool, "a", Mode::Exclusive).await;
        let writer = take(&pool, "b", Mode::Write).await;
        let reader = take(&pool, "c", Mode::Read).await;
        assert_eq!(db.opened().get(), 3);
        let exchanges = db.exchanges().len();
        for (name, mode) in [
            ("a", Mode::Exclusive),
            ("b", Mode::Read),
            ("b", Mode::Upgradeable),
            ("c", Mode::Write),
        ] {
            let refused = ask(&pool, name, mode).await.unwrap();
            assert!(refused.is_none(), "{mode:?} {name}");
        }
        assert_eq!(db.exchanges().len(), exchanges, "nobody asked the server");
        let second_reader = take(&pool, "c", Mode::Read).await;
        drop((exclusive, writer, reader, second_reader));
    })
    .await;
}

#[tokio::test]
async fn two_names_that_fall_on_one_key_exclude_each_other() {
    beside(ms(5000), async {
        let (db, pool) = pool(|_| {});
        let one = take(&pool, "k#1", Mode::Exclusive).await;
        assert!(ask(&pool, "k#2", Mode::Exclusive).await.unwrap().is_none());
        one.release().await.unwrap();
        let two = take(&pool, "k#2", Mode::Exclusive).await;
        assert!(ask(&pool, "k#1", Mode::Exclusive).await.unwrap().is_none());
        drop(two);
        db.nothing_was_wrong();
    })
    .await;
}

#[tokio::test]
async fn a_mutex_and_a_read_write_lock_that_fall_on_one_key_exclude_each_other() {
    beside(ms(5000), async {
        let (_, pool) = pool(|_| {});
        let mutex = take(&pool, "k#1", Mode::Exclusive).await;
        assert!(ask(&pool, "k#2", Mode::Write).await.unwrap().is_none());
        assert!(ask(&pool, "k#2", Mode::Read).await.unwrap().is_none());
        mutex.release().await.unwrap();
        let writer = take(&pool, "k#2", Mode::Write).await;
        assert!(ask(&pool, "k#1", Mode::Exclusive).await.unwrap().is_none());
        drop(writer);
    })
    .await;
}

#[tokio::test]
async fn a_waiter_gets_in_when_a_rival_has_left() {
    beside(ms(5000), async {
        let (db, pool) = pool(|options| {
            options.pace = Pace {
                least: Duration::from_secs(3600),
                most: Duration::from_secs(3600),
            };
        });
        db.rival_takes("mutex:a", Mode::Exclusive);
        let mut waiting = pin!(pool.acquire(request("a", Mode::Exclusive, Deadline::Never)));
        tokio::select! {
            _ = &mut waiting => panic!("the rival has it"),
            () = eventually("it was refused once", || pool.sessions() == 1
                && db.before().arrived() == 1) => {}
        }
        // Whether the refusal has been read or not, the hint is not lost.
        db.rival_leaves();
        assert!(pool.hints().hint(&mutex_id("a")));
        assert!(waiting.await.unwrap().is_some());
    })
    .await;
}

type Answer = Result<Option<Held>>;
type Asked<'a> = Pin<Box<dyn Future<Output = Answer> + Send + 'a>>;

/// Asks once and, in the very moment the answer is there, once more. The answer to the first, and
/// whether the second went to the server.
fn ask_twice(gate: &Gate, pool: &Pool<Db>) -> (Answer, bool) {
    let now = || -> Asked<'_> { Box::pin(ask(pool, "a", Mode::Exclusive)) };
    in_the_act(gate, &mut now(), |answer| match answer {
        Poll::Ready(answer) => (answer, poll_once(&mut now()).is_pending()),
        Poll::Pending => panic!("the answer is there"),
    })
}

#[tokio::test]
async fn a_refused_request_is_not_in_the_way_of_the_next() {
    alone(ms(5000), async {
        let (db, pool) = pool(|_| {});
        db.rival_takes("mutex:a", Mode::Exclusive);
        let (refused, asked_again) = ask_twice(db.before(), &pool);
        assert!(refused.unwrap().is_none());
        assert!(asked_again);
    })
    .await;
}

#[tokio::test]
async fn a_failed_request_is_not_in_the_way_of_the_next() {
    alone(ms(5000), async {
        let (db, pool) = pool(|_| {});
        db.next([Step::Fail]);
        let (failed, asked_again) = ask_twice(db.before(), &pool);
        assert!(failed.is_err());
        assert!(asked_again);
    })
    .await;
}

#[tokio::test]
async fn a_request_that_was_not_let_in_is_not_in_the_way_of_the_next() {
    alone(ms(5000), async {
        let (db, pool) = pool(|_| {});
        db.refuse(1);
        let (failed, asked_again) = ask_twice(db.door(), &pool);
        assert!(failed.is_err());
        assert!(asked_again);
    })
    .await;
}

// Errors and losses.

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
        assert!(asked_at.elapsed() <= ms(150) + LATE);
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
        assert!(after <= ms(200) + LATE, "nor long after: {after:?}");
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
        assert!(asked_at.elapsed() <= ms(100) + LATE);
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

// Validity.

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
        assert!(late <= LATE, "nor long after: {late:?}");
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
        assert!(until.elapsed() <= LATE);
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
        assert!(late <= LATE, "{late:?}");
    })
    .await;
}

// Leaving.

#[tokio::test]
async fn an_answer_that_nobody_waits_for_is_given_back() {
    beside(ms(5000), async {
        let (db, pool) = pool(|_| {});
        db.after().close();
        let asking = asking(&pool, "a", Mode::Exclusive);
        db.after().reached(1).await;
        assert_eq!(db.held(), ["exclusive mutex:a"], "granted, and not told");
        asking.abort();
        assert!(asking.await.unwrap_err().is_cancelled());
        db.after().open();
        eventually("it was given back", || db.held().is_empty()).await;
        let _a = take(&pool, "a", Mode::Exclusive).await;
        db.nothing_was_wrong();
    })
    .await;
}

#[tokio::test]
async fn a_session_that_holds_nothing_is_closed_after_a_while() {
    beside(ms(5000), async {
        let (db, pool) = pool(|options| {
            options.linger = ms(200);
            options.ping_every = ms(50);
        });
        let a = take(&pool, "a", Mode::Exclusive).await;
        let b = take(&pool, "b", Mode::Exclusive).await;
        a.release().await.unwrap();
        db.pings().reached(6).await; // longer than that, and still in use
        let released_at = Instant::now();
        b.release().await.unwrap();
        db.closed().reached(1).await;
        let after = released_at.elapsed();
        assert!(after >= ms(195), "not before: {after:?}");
        assert!(after <= ms(200) + LATE, "nor long after: {after:?}");
        assert_eq!(pool.sessions(), 0);
        let _a = take(&pool, "a", Mode::Exclusive).await;
        assert_eq!(db.opened().get(), 2);
    })
    .await;
}

#[tokio::test]
async fn a_session_that_holds_something_is_not_closed() {
    beside(ms(5000), async {
        let (db, pool) = pool(|options| {
            options.linger = ms(50);
            options.ping_every = ms(25);
        });
        let a = take(&pool, "a", Mode::Exclusive).await;
        db.pings().reached(6).await;
        assert_eq!((a.lost().get(), pool.sessions()), (None, 1));
    })
    .await;
}

#[tokio::test]
async fn what_was_released_is_not_lost_with_its_session() {
    beside(ms(5000), async {
        let (db, pool) = pool(|options| options.linger = ms(50));
        let a = take(&pool, "a", Mode::Exclusive).await;
        let lost = a.lost();
        a.release().await.unwrap();
        db.closed().reached(1).await;
        assert_eq!(lost.get(), None);

        let a = take(&pool, "a", Mode::Exclusive).await;
        let b = take(&pool, "b", Mode::Exclusive).await;
        let (lost, mut waiting) = (a.lost(), a.lost().into_future());
        assert!(poll_once(&mut waiting).is_pending());
        a.release().await.unwrap();
        db.break_all();
        assert_eq!(b.lost().await, Loss::Disconnected);
        assert_eq!(lost.get(), None);
        assert!(poll_once(&mut waiting).is_pending());
    })
    .await;
}

#[test]
fn a_session_outlives_the_runtime_it_was_opened_from() {
    within_thread(ms(10_000), || {
        let (db, pool) = pool(|_| {});
        let a = block_on(take(&pool, "a", Mode::Exclusive));
        // That runtime has ended.
        assert_eq!(a.lost().get(), None);
        let b = block_on(take(&pool, "b", Mode::Exclusive));
        assert_eq!(db.opened().get(), 1);
        block_on(a.release()).unwrap();
        assert_eq!(db.held(), ["exclusive mutex:b"]);
        drop(b);
        block_on(eventually("b was given back", || db.held().is_empty()));
    });
}

#[tokio::test]
async fn a_session_outlives_its_pool_for_as_long_as_it_holds_something() {
    beside(ms(5000), async {
        let (db, pool) = pool(|_| {});
        let a = take(&pool, "a", Mode::Exclusive).await;
        drop(pool);
        assert_eq!(a.lost().get(), None);
        a.release().await.unwrap();
        db.closed().reached(1).await;
        assert!(db.held().is_empty());
    })
    .await;
}

// Upgrades.

#[tokio::test]
async fn an_upgraded_reader_is_the_writer_with_a_token_of_its_own() {
    beside(ms(5000), async {
        let (db, pool) = pool(|_| {});
        let mut a = take(&pool, "a", Mode::Upgradeable).await;
        assert_eq!(a.token(), None);
        assert!(a.upgrade(Deadline::Now).await.unwrap());
        assert!(a.token().is_some());
        assert_eq!(db.held(), ["write rwlock:a"]);
        assert!(ask(&pool, "a", Mode::Read).await.unwrap().is_none());
        a.release().await.unwrap();
        assert!(db.held().is_empty());
        let _writer = take(&pool, "a", Mode::Write).await;
        db.nothing_was_wrong();
    })
    .await;
}

#[tokio::test]
async fn a_reader_of_this_process_is_in_the_way_of_an_upgrade() {
    beside(ms(5000), async {
        let (db, pool) = pool(|_| {});
        let reader = take(&pool, "a", Mode::Read).await;
        let mut a = take(&pool, "a", Mode::Upgradeable).await;
        assert!(!a.upgrade(Deadline::Now).await.unwrap());
        assert_eq!(db.held(), ["read rwlock:a", "upgradeable rwlock:a"]);
        let mut upgrade = pin!(a.upgrade(Deadline::Never));
        assert!(poll_once(&mut upgrade).is_pending());
        reader.release().await.unwrap();
        assert!(upgrade.await.unwrap());
        assert_eq!(db.held(), ["write rwlock:a"]);
        db.nothing_was_wrong();
    })
    .await;
}

/// Lets a reader come in, from another thread, while the session decides about an upgrade; a
/// little earlier or later each time. Says whether both got in.
fn reader_and_upgrade_at_once(times: u64) -> bool {
    struct Stop<'a>(&'a AtomicBool);
    impl Drop for Stop<'_> {
        fn drop(&mut self) {
            self.0.store(true, Ordering::Relaxed);
        }
    }
    let (pool, stopped) = (
        Pool::new(GrantsAll, Options::default()),
        AtomicBool::new(false),
    );
    let ask = |mode| pool.acquire(request("k", mode, Deadline::Now));
    let (told, hears) = channel();
    thread::scope(|threads| {
        let stop = Stop(&stopped);
        threads.spawn(|| {
            block_on(async {
                while !stopped.load(Ordering::Relaxed) {
                    if spy::seen() {
                        told.send(ask(Mode::Read).await.unwrap()).unwrap();
                    }
                }
            });
        });
        let both = (0..times).any(|n| {
            let mut upgradeable = block_on(ask(Mode::Upgradeable)).unwrap().unwrap();
            spy::arm(Duration::from_nanos(n * 137 % 20_000));
            let upgraded = block_on(upgradeable.upgrade(Deadline::Now)).unwrap();
            let reader = hears.recv().unwrap();
            let both = upgraded && reader.is_some();
            block_on(upgradeable.release()).unwrap();
            if let Some(reader) = reader {
                block_on(reader.release()).unwrap();
            }
            both
        });
        drop(stop);
        both
    })
}

#[tokio::test]
async fn a_reader_and_an_upgrade_at_once_do_not_both_get_in() {
    alone(ms(20_000), async {
        let both = tokio::task::spawn_blocking(|| reader_and_upgrade_at_once(3000));
        assert!(!both.await.unwrap());
    })
    .await;
}

#[tokio::test]
async fn an_upgrade_that_the_server_refused_leaves_the_reader() {
    beside(ms(5000), async {
        let (db, pool) = pool(|_| {});
        let mut a = take(&pool, "a", Mode::Upgradeable).await;
        db.rival_takes("rwlock:a", Mode::Read);
        assert!(!a.upgrade(Deadline::Now).await.unwrap());
        assert_eq!(a.token(), None);
        let reader = take(&pool, "a", Mode::Read).await;
        db.rival_leaves();
        drop(reader);
        assert!(a.upgrade(Deadline::Never).await.unwrap());
        a.release().await.unwrap();
        assert!(db.held().is_empty());
        db.nothing_was_wrong();
    })
    .await;
}

#[tokio::test]
async fn an_upgrade_that_failed_leaves_the_reader() {
    beside(ms(5000), async {
        let (db, pool) = pool(|_| {});
        let mut a = take(&pool, "a", Mode::Upgradeable).await;
        for step in [Step::Fail, Step::FailAfterwards] {
            db.next([step]);
            let error = a.upgrade(Deadline::Never).await.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Unavailable);
            let reader = take(&pool, "a", Mode::Read).await;
            reader.release().await.unwrap();
            assert_eq!(db.held(), ["upgradeable rwlock:a"]);
        }
        assert!(a.upgrade(Deadline::Never).await.unwrap());
        assert_eq!(db.held(), ["write rwlock:a"]);
        db.nothing_was_wrong();
    })
    .await;
}

/// Abandons an upgrade after the server granted it and before that was told.
async fn abandon_upgrade(db: &Db, held: &mut Held) {
    let arrived = db.after().arrived();
    db.after().close();
    let mut upgrade = Box::pin(held.upgrade(Deadline::Never));
    tokio::select! {
        _ = &mut upgrade => panic!("it cannot have been told"),
        () = db.after().reached(arrived + 1) => {}
    }
    assert_eq!(db.held(), ["write rwlock:a"]);
}

#[tokio::test]
async fn an_abandoned_upgrade_is_taken_back_before_the_next_begins() {
    beside(ms(5000), async {
        let (db, pool) = pool(|_| {});
        let mut a = take(&pool, "a", Mode::Upgradeable).await;
        abandon_upgrade(&db, &mut a).await;
        db.after().open();
        assert!(a.upgrade(Deadline::Never).await.unwrap());
        assert_eq!(
            db.exchanges()[1..],
            [
                exchange(1, &[], &["up rwlock:a"]),
                exchange(1, &["down rwlock:a"], &[]),
                exchange(1, &[], &["up rwlock:a"])
            ]
        );
        assert_eq!(db.held(), ["write rwlock:a"]);
        a.release().await.unwrap();
        assert!(db.held().is_empty());
        let _writer = take(&pool, "a", Mode::Write).await;
        db.nothing_was_wrong();
    })
    .await;
}

#[tokio::test]
async fn an_abandoned_upgrade_leaves_a_reader_beside_whom_others_read() {
    beside(ms(5000), async {
        let (db, pool) = pool(|_| {});
        let mut a = take(&pool, "a", Mode::Upgradeable).await;
        abandon_upgrade(&db, &mut a).await;
        db.after().open();
        let reader = pool
            .acquire(request("a", Mode::Read, Deadline::Never))
            .await;
        assert!(reader.unwrap().is_some());
        assert_eq!(a.token(), None);
        db.nothing_was_wrong();
    })
    .await;
}

#[tokio::test]
async fn a_release_after_an_abandoned_upgrade_leaves_nothing_held() {
    beside(ms(5000), async {
        let (db, pool) = pool(|_| {});
        let mut a = take(&pool, "a", Mode::Upgradeable).await;
        abandon_upgrade(&db, &mut a).await;
        let mut release = Box::pin(a.release());
        assert!(poll_once(&mut release).is_pending());
        db.after().open();
        release.await.unwrap();
        assert!(db.held().is_empty());
        let _writer = take(&pool, "a", Mode::Write).await;
        assert_eq!(db.opened().get(), 1, "on the same session");
        db.nothing_was_wrong();
    })
    .await;
}
