//! What is made on first use, and by whom.

use crate::{LONG, ROWS, database, node};
use lockwork::{ErrorKind, Locks, postgres::PostgresLeases};
use std::time::Duration;

#[tokio::test]
async fn nodes_that_start_at_once_in_an_empty_database_exclude_each_other() {
    let database = database();
    let starting = (0..6).map(|_| {
        let options = lockwork::postgres::Options::new(database.through());
        tokio::spawn(options.connect_leases())
    });
    let starting: Vec<_> = starting.collect();
    let mut nodes = Vec::new();
    for node in starting {
        nodes.push(Locks::new(node.await.unwrap().expect("it starts")));
    }
    let _guard = nodes[0].mutex("x").try_lock().await.unwrap().expect("free");
    for other in &nodes[1..] {
        assert!(other.mutex("x").try_lock().await.unwrap().is_none());
    }
}

#[tokio::test]
async fn a_thousand_names_used_once_leave_no_row() {
    let database = database();
    let locks = Locks::new(node(&database, LONG).await);
    let using = (0..1000).map(|number| {
        let mutex = locks.mutex(format!("name {number}"));
        tokio::spawn(async move { mutex.lock().await.unwrap().release().await.unwrap() })
    });
    for one in using.collect::<Vec<_>>() {
        one.await.unwrap();
    }
    assert_eq!(database.number(ROWS), 0);
}

#[tokio::test]
async fn rows_that_ran_out_are_collected_and_no_others() {
    let database = database();
    let locks = Locks::new(node(&database, LONG).await);
    let _guard = locks.mutex("held").lock().await.unwrap();
    database.run(
        "INSERT INTO lockwork.lease (key, owner, mode, waits, permits, since, expires, client) \
         SELECT decode(md5((n / 2)::text), 'hex'), decode(md5(n::text), 'hex'), 2, false, 0, now(), \
           now() - interval '1 minute', 'gone' FROM generate_series(0, 9) AS n",
    );
    let idle = Duration::from_secs(3600);
    assert_eq!(locks.collect(idle).await.unwrap(), 0);
    assert_eq!(locks.collect(Duration::from_secs(30)).await.unwrap(), 5);
    assert_eq!(database.number(ROWS), 1);
}

#[tokio::test]
async fn what_a_database_sets_for_all_changes_nothing() {
    let database = database();
    for setting in [
        "default_transaction_isolation = 'repeatable read'",
        "default_transaction_isolation = 'serializable'",
        "default_transaction_read_only = off",
        "synchronous_commit = off",
        "bytea_output = 'escape'",
        "search_path = ''",
    ] {
        database.set(setting);
        let (one, two) = (node(&database, LONG).await, node(&database, LONG).await);
        let (one, two) = (Locks::new(one), Locks::new(two));
        let inside = std::sync::Arc::new(std::sync::atomic::AtomicU32::new(0));
        let tasks = [&one, &two, &one, &two].map(|locks| {
            let (mutex, inside) = (locks.mutex("x"), inside.clone());
            tokio::spawn(async move {
                for _ in 0..10 {
                    let guard = mutex.lock().await.unwrap();
                    let others = inside.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
                    assert_eq!(others, 0, "two are in");
                    tokio::task::yield_now().await;
                    inside.fetch_sub(1, std::sync::atomic::Ordering::SeqCst);
                    guard.release().await.unwrap();
                }
            })
        });
        for task in tasks {
            task.await.unwrap();
        }
        assert_eq!(one.mutex("x").holders().await.unwrap().holders.len(), 0);
    }
}

#[tokio::test]
async fn a_role_without_rights_is_told_the_script_and_it_is_enough() {
    let database = database();
    let role = database.role();
    let options = || {
        let through = database.through().username(role.name()).password("secret");
        lockwork::postgres::Options::new(through)
    };
    let error = options().connect_leases().await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Denied, "{error}");
    let script = PostgresLeases::script(&options());
    assert!(error.to_string().contains(&script), "{error}");
    database.run(&script);
    let locks = Locks::new(options().connect_leases().await.unwrap());
    let mut guard = locks.rw_lock("x").upgradeable_read().await.unwrap();
    guard.upgrade().await.unwrap();
    guard.release().await.unwrap();
    drop(locks.mutex("x").lock().await.unwrap());
    assert!(locks.doctor().await.unwrap().is_safe());
    assert_eq!(locks.mutex("x").break_lock("to see").await.unwrap(), 0);
    locks.collect(Duration::ZERO).await.unwrap();
    locks.close().await;
}
