//! A session does not exclude itself, so the pool does.

use crate::{
    Answer, Asked, ask,
    common::{
        alone, beside,
        db::{Db, Step},
        events::Gate,
        eventually, in_the_act, ms, mutex_id, poll_once,
    },
    pool, request, take,
};
use lockwork_core::lock::{
    Deadline, Hold, Mode,
    backend::{Pace, session::Pool},
};
use std::{pin::pin, task::Poll, time::Duration};

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
