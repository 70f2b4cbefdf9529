//! A server whose memory is full.

use crate::{asking, canary, connect, guarded, refusal};
use lockwork::{ErrorKind::Unavailable, Guard, Instant};
use lockwork_servers::{Redis, RedisSettings};

const ADVICE: &str = "raise maxmemory, or find what fills it";

fn limit(server: &Redis, bytes: &str) {
    server.ask(&["CONFIG", "SET", "maxmemory", bytes]).unwrap();
}

/// Waits until it is good for longer than now.
async fn is_renewed(guard: &Guard) {
    let before = guard.valid_until().unwrap();
    asking::until("a renewal", async || {
        let until: Instant = guard.valid_until().unwrap();
        assert!(guard.is_valid(), "it was lost");
        until > before
    })
    .await;
}

#[tokio::test]
async fn a_full_server_grants_nothing_and_keeps_what_is_held() {
    let server = guarded(RedisSettings::new().max_memory(0, "noeviction"));
    let (locks, other) = (connect(server.port()).await, connect(server.port()).await);
    let mutex = locks.mutex("held").lock().await.unwrap();
    // What is renewed together is written together: each by a client of its own.
    let reader = connect(server.port()).await.rw_lock("held").read().await;
    let second = connect(server.port()).await.rw_lock("held").read().await;
    let permit = connect(server.port()).await.semaphore("held", 2);
    let (reader, second) = (reader.unwrap(), second.unwrap());
    let permit = permit.acquire().await.unwrap();
    limit(&server, "1");
    asking::expect(&locks, Unavailable, ADVICE).await;
    for error in [
        asking::error_of(locks.rw_lock("new").try_read()).await,
        asking::error_of(locks.rw_lock("new").try_write()).await,
        asking::error_of(locks.rw_lock("held").try_upgradeable_read()).await,
        asking::error_of(locks.semaphore("new", 1).try_acquire()).await,
        asking::error_of(locks.all(["new", "newer"]).try_lock()).await,
    ] {
        refusal::is(&error, Unavailable, ADVICE);
    }
    tokio::join!(is_renewed(&mutex), is_renewed(&reader), is_renewed(&permit));
    for guard in [mutex, reader, second, permit] {
        guard.release().await.unwrap();
    }
    // They are free, and not only forgotten here.
    limit(&server, "0");
    for guard in [
        other.mutex("held").try_lock().await,
        other.rw_lock("held").try_write().await,
        other.semaphore("held", 1).try_acquire().await,
    ] {
        guard.unwrap().unwrap().release().await.unwrap();
    }
    canary::is_not_in_the_log();
}
