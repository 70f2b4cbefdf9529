//! What sessions that wait may have at the server, for how long that bears them, and how long they are kept.

use super::{A, granted, in_line, lined_up, lining, waits};
use crate::{
    ask,
    common::{alone, beside, db::Wait, eventually, ms},
    left, on_news_only, request, take_again,
};
use lockwork_core::lock::{Deadline, Hold, Instant, Mode};

#[tokio::test]
async fn a_grant_after_a_wait_that_was_longer_than_the_server_bears_is_believed() {
    beside(ms(5000), async {
        let (db, pool) = lining(|options| {
            options.server_bears = Some(ms(300));
            options.ping_every = ms(100);
        });
        let begun_at = Instant::now();
        let waiter = lined_up(&db, &pool, "a").await;
        eventually("that long", || begun_at.elapsed() >= ms(700)).await;
        db.rival_leaves();
        let a = granted(waiter).await;
        assert_eq!(db.waited(), waits(&[(2, A)]), "the first wait");
        assert_eq!(db.closed().get(), 0, "on the session that waited");
        let until = a.valid_until().unwrap();
        assert!(!until.has_passed());
        assert!(until <= Instant::now() + ms(300));
        let pinged = || a.valid_until().unwrap() > until + ms(300);
        eventually("it is pinged in time", pinged).await;
        assert_eq!(a.lost().get(), None);
        db.nothing_was_wrong();
    })
    .await;
}

#[tokio::test]
async fn a_grant_that_is_read_after_a_freeze_is_not_believed() {
    alone(ms(5000), async {
        let (db, pool) = lining(|options| {
            options.server_bears = Some(ms(300));
            options.ping_every = ms(100);
        });
        db.next_waits([Wait::Frozen(ms(400))]);
        let waiter = lined_up(&db, &pool, "a").await;
        db.rival_leaves();
        let a = granted(waiter).await;
        assert_eq!(a.lost().get(), None);
        assert!(!a.valid_until().unwrap().has_passed());
        assert!(db.opened().get() > 2, "on another session");
        db.nothing_was_wrong();
    })
    .await;
}

#[tokio::test]
async fn a_wish_for_a_shorter_lease_waits_on_a_session_of_its_own_kind() {
    beside(ms(5000), async {
        let (usual, shorter) = (ms(2000), ms(300));
        let (db, pool) = lining(|options| {
            options.server_bears = Some(usual);
            options.ping_every = ms(600);
        });
        let waiter = lined_up(&db, &pool, "a").await;
        waiter.abort();
        in_line(&db, &[]).await;
        let mut request = request("a", Mode::Exclusive, Deadline::Never);
        request.lease = Some(shorter);
        let waiter = tokio::spawn({
            let pool = pool.clone();
            async move { pool.acquire(request).await }
        });
        in_line(&db, &[A]).await;
        db.rival_leaves();
        let a = granted(waiter).await;
        assert!(a.valid_until().unwrap() <= Instant::now() + shorter);
        let bears = [usual, usual, shorter, shorter].map(Some);
        assert_eq!(db.bears(), bears);
        db.nothing_was_wrong();
    })
    .await;
}

#[tokio::test]
async fn whoever_waits_at_the_server_counts_for_the_quota_until_it_leaves() {
    beside(ms(5000), async {
        let (db, pool) = lining(on_news_only);
        db.limit(1);
        let waiter = lined_up(&db, &pool, "a").await;
        let error = ask(&pool, "b", Mode::Exclusive).await.unwrap_err();
        assert!(error.to_string().contains("quota"), "{error}");
        waiter.abort();
        in_line(&db, &[]).await;
        let _b = take_again(&pool, "b", Mode::Exclusive).await;
    })
    .await;
}

#[tokio::test]
async fn a_session_is_kept_for_a_while_after_it_has_waited() {
    beside(ms(5000), async {
        let (db, pool) = lining(|options| options.linger = ms(200));
        let waiter = lined_up(&db, &pool, "a").await;
        // The one that tried has nothing to do for all that time.
        db.closed().reached(1).await;
        let left_at = Instant::now();
        waiter.abort();
        db.closed().reached(2).await;
        let after = left_at.elapsed();
        assert!(after >= ms(195), "{after:?}");
        assert_eq!(pool.sessions(), 0);
        assert!(left(&db).is_empty());
    })
    .await;
}
