//! Who shares a session.

use crate::{
    ask,
    common::{beside, db::Step, ms},
    pool, take,
};
use lockwork_core::lock::{Hold, Mode};

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
