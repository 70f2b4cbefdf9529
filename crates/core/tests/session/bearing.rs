//! What a pool may have at the server, and for how long the server bears its silence.

use crate::{
    Held, ask,
    common::{beside, block_on, db::Db, eventually, ms, within_thread},
    on_news_only, pool, request, take, waiting, waits_at,
};
use lockwork_core::lock::{Deadline, ErrorKind, Hold, Instant, Mode, backend::session::Pool};
use std::{
    sync::{
        Barrier,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
    time::Duration,
};

async fn too_many(pool: &Pool<Db>, name: &str) {
    let error = ask(pool, name, Mode::Exclusive).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unavailable);
    assert!(error.to_string().contains("quota"), "{error}");
}

#[tokio::test]
async fn more_than_the_quota_is_unavailable_until_some_is_given_back() {
    beside(ms(5000), async {
        // Across all sessions.
        let (db, pool) = pool(|options| options.capacity = 1);
        db.limit(2);
        let a = take(&pool, "a", Mode::Exclusive).await;
        let _b = take(&pool, "b", Mode::Exclusive).await;
        too_many(&pool, "c").await;
        too_many(&pool, "c").await;
        a.release().await.unwrap();
        let c = take(&pool, "c", Mode::Exclusive).await;
        too_many(&pool, "a").await;
        drop(c);
        eventually("c was given back", || db.held().len() == 1).await;
        let one = request("a", Mode::Exclusive, Deadline::Now);
        let two = request("c", Mode::Exclusive, Deadline::Now);
        let error = pool.try_all(vec![one, two]).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unavailable);
        let _a = take(&pool, "a", Mode::Exclusive).await;
        db.nothing_was_wrong();
    })
    .await;
}

#[tokio::test]
async fn whoever_waits_counts_until_it_leaves() {
    beside(ms(5000), async {
        let (db, pool) = pool(on_news_only);
        db.limit(1);
        db.rival_takes("mutex:a", Mode::Exclusive);
        let waiter = waiting(&pool, "a", Mode::Exclusive);
        waits_at(&db, &["exclusive mutex:a"]).await;
        too_many(&pool, "b").await;
        waiter.abort();
        waits_at(&db, &[]).await;
        let _b = take(&pool, "b", Mode::Exclusive).await;
    })
    .await;
}

#[tokio::test]
async fn what_was_lost_counts_no_more() {
    beside(ms(5000), async {
        let (db, pool) = pool(|_| {});
        db.limit(1);
        let a = take(&pool, "a", Mode::Exclusive).await;
        db.break_all();
        a.lost().await;
        let _b = take(&pool, "b", Mode::Exclusive).await;
    })
    .await;
}

#[test]
fn the_quota_holds_whoever_asks_at_once() {
    let most = within_thread(ms(20_000), || {
        let (db, pool) = pool(|_| {});
        db.limit(1);
        let (start, most) = (Barrier::new(8), AtomicUsize::new(0));
        thread::scope(|threads| {
            for n in 0..8 {
                let (db, pool, start, most) = (&db, &pool, &start, &most);
                threads.spawn(move || {
                    for _ in 0..600 {
                        start.wait();
                        let held = block_on(ask(pool, &n.to_string(), Mode::Exclusive));
                        most.fetch_max(db.held().len(), Ordering::Relaxed);
                        if let Ok(Some(held)) = held {
                            block_on(held.release()).unwrap();
                        }
                    }
                });
            }
        });
        most.into_inner()
    });
    assert_eq!(most, 1);
}

/// Takes what is free, with a wish for such a lease.
async fn leased(pool: &Pool<Db>, name: &str, lease: Duration) -> Held {
    let mut request = request(name, Mode::Exclusive, Deadline::Now);
    request.lease = Some(lease);
    pool.acquire(request).await.unwrap().unwrap()
}

#[tokio::test]
async fn a_wish_for_a_shorter_lease_lives_on_a_session_of_its_own_kind() {
    beside(ms(5000), async {
        let (usual, shorter) = (ms(2000), ms(300));
        let (db, pool) = pool(|options| {
            options.server_bears = Some(usual);
            options.ping_every = ms(600);
        });
        let a = take(&pool, "a", Mode::Exclusive).await;
        let b = leased(&pool, "b", shorter).await;
        let first = b.valid_until().unwrap();
        assert!(first <= Instant::now() + shorter);
        assert!(a.valid_until().unwrap() > Instant::now() + shorter * 2);
        let _c = leased(&pool, "c", shorter).await;
        let _d = leased(&pool, "d", usual * 2).await;
        assert_eq!(db.bears(), [Some(usual), Some(shorter)]);
        let pinged = || b.valid_until().unwrap() >= first + shorter * 3;
        eventually("it is pinged in time", pinged).await;
        assert_eq!((a.lost().get(), b.lost().get()), (None, None));
        b.release().await.unwrap();
        db.nothing_was_wrong();
    })
    .await;
}

#[tokio::test]
async fn where_the_connection_stands_for_a_grant_a_wish_for_a_lease_changes_nothing() {
    beside(ms(5000), async {
        let (db, pool) = pool(|_| {});
        let _a = take(&pool, "a", Mode::Exclusive).await;
        let b = leased(&pool, "b", ms(300)).await;
        assert_eq!(b.valid_until(), None);
        assert_eq!(db.bears(), [None]);
    })
    .await;
}

#[tokio::test]
async fn what_the_server_no_longer_bears_when_it_answers_is_not_granted() {
    beside(ms(5000), async {
        let (db, pool) = pool(|options| options.server_bears = Some(ms(100)));
        db.before().close();
        let error = ask(&pool, "a", Mode::Exclusive).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unavailable);
        assert_eq!(db.opened().get(), 2, "it was put once more");
    })
    .await;
}
