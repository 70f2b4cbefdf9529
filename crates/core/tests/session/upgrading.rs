//! Upgrades.

use crate::{
    Held, ask,
    common::{
        alone, beside, block_on,
        db::{Db, Step},
        ms, poll_once,
        spy::{self, GrantsAll},
    },
    exchange, pool, request, take,
};
use lockwork_core::lock::{
    Deadline, ErrorKind, Hold, Mode,
    backend::session::{Options, Pool},
};
use std::{
    pin::pin,
    sync::{
        atomic::{AtomicBool, Ordering},
        mpsc::channel,
    },
    thread,
    time::Duration,
};

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
