//! Servers that are killed and come back, with what they had or without.

use crate::{LEASE, SOON, ends, options, server, until_renewed, within};
use lockwork::{ErrorKind, Guard, Instant, Locks, Loss};
use lockwork_conformance::generous;
use lockwork_servers::{Redis, RedisSettings};
use std::time::Duration;

/// Long enough for a server to come back, and to be found.
const LONG: Duration = Duration::from_secs(6);

async fn client(server: &Redis) -> Locks {
    crate::locks(options(server.port()).lease(LONG)).await
}

#[tokio::test]
async fn a_server_that_keeps_everything_on_disk_keeps_the_locks_too() {
    let server = Redis::start(RedisSettings::new().durable()).unwrap();
    let (here, there) = (client(&server).await, client(&server).await);
    let guards = [
        here.mutex("x").lock().await.unwrap(),
        here.rw_lock("x").write().await.unwrap(),
        here.semaphore("x", 1).acquire().await.unwrap(),
    ];
    let before = ends(&guards);
    server.kill().unwrap();
    server.restart().unwrap();
    let back = Instant::now();
    until_renewed(LONG, &guards, &before).await;
    println!("kept on disk: renewed {:?} after", back.elapsed());
    assert!(guards.iter().all(Guard::is_valid));
    assert!(there.mutex("x").try_lock().await.unwrap().is_none());
    assert!(there.rw_lock("x").try_read().await.unwrap().is_none());
    let semaphore = there.semaphore("x", 1);
    assert!(semaphore.try_acquire().await.unwrap().is_none());
    let before = guards[0].token();
    for guard in guards {
        guard.release().await.unwrap();
    }
    let next = there.mutex("x").lock().await.unwrap();
    assert!(next.token() > before);
}

#[tokio::test]
async fn a_server_that_forgot_everything_says_so_within_a_second_of_its_return() {
    let server = server();
    let (here, there) = (client(&server).await, client(&server).await);
    let guard = here.mutex("x").lock().await.unwrap();
    server.kill().unwrap();
    let refused = here.mutex("y").try_lock().await.unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Unavailable, "{refused}");
    assert!(refused.is_transient(), "{refused}");
    assert!(guard.is_valid(), "nobody can have it yet");
    server.restart().unwrap();
    let back = Instant::now();
    // Before its holder knows: the server has forgotten.
    let next = there.mutex("x").try_lock().await.unwrap().unwrap();
    assert!(next.token() > guard.token());
    let limit = Duration::from_millis(1200);
    let loss = within(limit, "the loss is told", guard.lost()).await;
    assert_eq!(loss, Loss::Taken);
    let told = back.elapsed();
    println!("forgotten: told {told:?} after");
    assert!(told < generous(limit), "too late: {told:?}");
    assert!(next.is_valid());
    next.release().await.unwrap();
}

#[tokio::test]
async fn a_guard_whose_server_stays_away_is_off_at_the_end_of_its_lease() {
    let server = server();
    let here = crate::client(server.port()).await;
    let guard = here.mutex("x").lock().await.unwrap();
    let killed = Instant::now();
    server.kill().unwrap();
    let loss = within(LEASE, "the loss is told", guard.lost()).await;
    assert_eq!(loss, Loss::Expired);
    assert!(killed.elapsed() > LEASE / 3, "{:?}", killed.elapsed());
    let released = within(SOON, "an answer", guard.release()).await;
    assert_eq!(released.unwrap_err().kind(), ErrorKind::Lost);
}
