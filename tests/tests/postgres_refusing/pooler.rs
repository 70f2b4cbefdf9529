//! PgBouncer in between: in one mode a lock would belong to nobody.

use crate::{canary, refusal, url};
use lockwork::ErrorKind::Denied;
use lockwork_servers::{PgBouncer, PoolMode, Postgres, Settings};
use sqlx::{ConnectOptions, Executor, postgres::PgConnectOptions};
use tokio::task::JoinSet;

const TIMES: usize = 20;

fn pooled(mode: PoolMode) -> (Postgres, PgBouncer, String) {
    let server = Postgres::start(Settings::new()).unwrap();
    let bouncer = PgBouncer::start(&server, mode).unwrap();
    let url = url(bouncer.port(), "lockwork", "postgres");
    (server, bouncer, url)
}

/// How many of `TIMES` connections were refused for the pooler.
async fn refused(url: &str) -> usize {
    let mut count = 0;
    for _ in 0..TIMES {
        match lockwork::connect(url).await {
            Ok(locks) => drop(locks),
            Err(error) => {
                canary::is_not_in(&error);
                refusal::is(&error, Denied, "use session pooling");
                count += 1;
            }
        }
    }
    count
}

/// So many run one statement after the other through the pooler, until dropped.
async fn busy(url: &str, count: usize, statement: &'static str) -> JoinSet<()> {
    let options: PgConnectOptions = url.parse().unwrap();
    let options = options.extra_float_digits(None);
    let mut others = JoinSet::new();
    for _ in 0..count {
        let mut connection = options.connect().await.unwrap();
        others.spawn(async move { while connection.execute(statement).await.is_ok() {} });
    }
    others
}

#[tokio::test]
async fn transaction_mode_is_refused_every_time() {
    canary::listen();
    let (_server, _bouncer, url) = pooled(PoolMode::Transaction);
    let count = refused(&url).await;
    println!("in an idle pool: refused {count} of {TIMES}");
    assert_eq!(count, TIMES);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn transaction_mode_is_refused_every_time_while_others_use_the_pool() {
    canary::listen();
    let (_server, _bouncer, url) = pooled(PoolMode::Transaction);
    for (others, statement) in [
        (1, "SELECT 1"),
        (2, "SELECT pg_sleep(0.001)"),
        (8, "SELECT 1"),
        (30, "SELECT pg_sleep(0.02)"),
    ] {
        let busy = busy(&url, others, statement).await;
        let count = refused(&url).await;
        println!("while {others} others run {statement}: refused {count} of {TIMES}");
        assert_eq!(count, TIMES, "{statement}");
        drop(busy);
    }
}

#[tokio::test]
async fn session_mode_is_accepted_and_locks_exclude() {
    canary::listen();
    let (_server, _bouncer, url) = pooled(PoolMode::Session);
    let one = lockwork::connect(&url).await.unwrap();
    let two = lockwork::connect(&url).await.unwrap();
    let guard = one.mutex("a").lock().await.unwrap();
    assert!(two.mutex("a").try_lock().await.unwrap().is_none());
    guard.release().await.unwrap();
    assert!(two.mutex("a").try_lock().await.unwrap().is_some());
    canary::is_not_in_the_log();
}
