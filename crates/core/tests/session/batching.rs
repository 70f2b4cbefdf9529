//! What rides together.

use crate::{
    asking,
    common::{beside, db::Exchange, ms},
    exchange, let_them_ask, occupy, pool, take,
};
use lockwork_core::lock::{Hold, Instant, Mode};

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
        assert!(fastest < ms(3), "too late: {fastest:?}");
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
