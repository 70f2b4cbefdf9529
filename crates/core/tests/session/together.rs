//! Several at once: all of them, or none.

use crate::{
    ask,
    common::{
        beside,
        db::{Db, Step},
        eventually, ms, poll_once,
    },
    exchange, let_them_ask, pool, request, take,
};
use lockwork_core::lock::{
    Deadline, ErrorKind, Hold, Mode, Request,
    backend::{Releases, session::Pool},
};
use std::pin::pin;

fn requests(names: &[&str]) -> Vec<Request> {
    let request = |name: &&str| request(name, Mode::Exclusive, Deadline::Now);
    names.iter().map(request).collect()
}

/// Nothing is in the way of any of these.
async fn are_free(pool: &Pool<Db>, names: &[&str]) {
    for name in names {
        let taken = take(pool, name, Mode::Exclusive).await;
        taken.release().await.unwrap();
    }
}

#[tokio::test]
async fn several_ride_in_one_round_trip() {
    beside(ms(5000), async {
        let (db, pool) = pool(|options| options.capacity = 3);
        let all = pool.try_all(requests(&["a", "b", "c"])).await.unwrap();
        let all = all.unwrap();
        let takes = [
            "exclusive mutex:a",
            "exclusive mutex:b",
            "exclusive mutex:c",
        ];
        assert_eq!(db.exchanges(), [exchange(1, &[], &takes)]);
        let mut tokens: Vec<_> = all.iter().map(|hold| hold.token().unwrap()).collect();
        tokens.dedup();
        assert_eq!(tokens.len(), 3);
        for hold in all {
            hold.release().await.unwrap();
        }
        assert!(db.held().is_empty());
        let _again = pool.try_all(requests(&["a", "b", "c"])).await.unwrap();
        assert_eq!(db.opened().get(), 1, "there is room for three again");
        db.nothing_was_wrong();
    })
    .await;
}

#[tokio::test]
async fn none_is_no_question() {
    beside(ms(5000), async {
        let (db, pool) = pool(|_| {});
        let none = pool.try_all(Vec::new()).await.unwrap();
        assert!(none.is_some_and(|none| none.is_empty()));
        assert_eq!(db.opened().get(), 0);
    })
    .await;
}

#[tokio::test]
async fn if_one_is_refused_the_others_are_given_back_before_that_is_told() {
    beside(ms(5000), async {
        let (db, pool) = pool(|_| {});
        db.rival_takes("mutex:b", Mode::Exclusive);
        let refused = pool.try_all(requests(&["a", "b", "c"])).await.unwrap();
        assert!(refused.is_none());
        assert_eq!(db.held(), ["exclusive mutex:b"], "the rival's");
        assert!(db.waiting().is_empty());
        are_free(&pool, &["a", "c"]).await;
        db.rival_leaves();
        assert!(
            pool.try_all(requests(&["a", "b", "c"]))
                .await
                .unwrap()
                .is_some()
        );
        db.nothing_was_wrong();
    })
    .await;
}

#[tokio::test]
async fn what_is_given_back_again_rides_together() {
    beside(ms(5000), async {
        let (db, pool) = pool(|_| {});
        db.rival_takes("mutex:0", Mode::Exclusive);
        let names: Vec<_> = (0..20).map(|n| n.to_string()).collect();
        let names: Vec<_> = names.iter().map(String::as_str).collect();
        db.after().close();
        let all = requests(&names);
        let trying = {
            let pool = pool.clone();
            tokio::spawn(async move { pool.try_all(all).await.unwrap().is_some() })
        };
        db.after().reached(1).await;
        db.before().close();
        db.after().open();
        db.before().reached(2).await;
        let_them_ask().await;
        db.before().open();
        assert!(!trying.await.unwrap());
        let gives: Vec<_> = db.exchanges()[1..]
            .iter()
            .map(|one| one.gives.len())
            .collect();
        assert_eq!(gives.iter().sum::<usize>(), 19);
        assert!(gives.len() <= 2, "{gives:?}");
    })
    .await;
}

#[tokio::test]
async fn what_this_process_has_is_in_the_way_of_all() {
    beside(ms(5000), async {
        let (db, pool) = pool(|_| {});
        let b = take(&pool, "b", Mode::Exclusive).await;
        let refused = pool.try_all(requests(&["a", "b"])).await.unwrap();
        assert!(refused.is_none());
        assert_eq!(db.exchanges().len(), 1, "nobody asked the server");
        b.release().await.unwrap();
        assert!(pool.try_all(requests(&["a", "b"])).await.unwrap().is_some());
    })
    .await;
}

#[tokio::test]
async fn several_that_nobody_waits_for_any_more_are_given_back() {
    beside(ms(5000), async {
        let (db, pool) = pool(|_| {});
        let (releases, mut all) = (Releases::new(), requests(&["a", "b"]));
        for request in &mut all {
            request.releases = releases.clone();
        }
        db.after().close();
        let mut trying = Box::pin(pool.try_all(all));
        tokio::select! {
            _ = &mut trying => panic!("it cannot have been told"),
            () = db.after().reached(1) => {}
        }
        drop(trying);
        let mut settled = pin!(releases.settled());
        assert!(poll_once(&mut settled).is_pending(), "it is known of");
        db.after().open();
        settled.await;
        assert!(db.held().is_empty());
        are_free(&pool, &["a", "b"]).await;
        db.nothing_was_wrong();
    })
    .await;
}

#[tokio::test]
async fn a_failed_try_for_several_leaves_none() {
    beside(ms(5000), async {
        for step in [Step::Fail, Step::FailAfterwards] {
            // The second goes with the next round trip, and is granted.
            let (db, pool) = pool(|options| options.batch = 1);
            db.next([step]);
            let error = pool.try_all(requests(&["a", "b"])).await.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Unavailable);
            assert!(db.held().is_empty(), "{step:?}");
            are_free(&pool, &["a", "b"]).await;
            assert_eq!(db.opened().get(), 1);
            db.nothing_was_wrong();
        }
    })
    .await;
}

#[tokio::test]
async fn several_that_their_session_did_not_live_to_answer_are_put_once_more() {
    beside(ms(5000), async {
        let (db, pool) = pool(|options| options.patience = ms(60));
        db.next([Step::Silence]);
        let all = pool.try_all(requests(&["a", "b"])).await.unwrap();
        assert_eq!(all.map(|all| all.len()), Some(2));
        assert_eq!(db.opened().get(), 2);
        drop(pool);
        let (db, pool) = crate::pool(|options| options.patience = ms(60));
        db.next([Step::Silence, Step::Silence]);
        let error = pool.try_all(requests(&["a", "b"])).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unavailable);
    })
    .await;
}

#[tokio::test]
async fn a_session_that_ends_half_way_takes_all_with_it() {
    beside(ms(5000), async {
        let (db, pool) = pool(|options| {
            options.batch = 1;
            options.patience = ms(60);
        });
        // The first is granted, the second never answered.
        db.next([Step::Answer, Step::Silence]);
        // Whether the keys were free in time for another try or not, all or none are held.
        let all = pool.try_all(requests(&["a", "b"])).await.unwrap();
        let held = if all.is_some() { 2 } else { 0 };
        eventually("all or none", || db.held().len() == held).await;
        drop(all);
        eventually("none", || db.held().is_empty()).await;
        assert!(ask(&pool, "a", Mode::Exclusive).await.unwrap().is_some());
        db.nothing_was_wrong();
    })
    .await;
}
