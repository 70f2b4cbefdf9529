//! What the public types are, besides what they do: a guard that stops being `Send` is a breaking
//! change nobody sees.

use lockwork::layers::{Chaos, Metrics, Prefix, Retry, Trace};
use lockwork::{
    All, AnyBackend, AnyHold, Error, Guard, Guards, Instant, LockId, LockOptions, Locks, Lost,
    Memory, Mutex, Name, Registry, Request, RwLock, Semaphore, Token,
};

fn crosses_threads<T: Send + Sync + Unpin + 'static>() {}
fn is_sent<T: Send>(_: T) {}

#[test]
fn every_public_type_crosses_threads() {
    crosses_threads::<All>();
    crosses_threads::<AnyBackend>();
    crosses_threads::<AnyHold>();
    crosses_threads::<Chaos>();
    crosses_threads::<Error>();
    crosses_threads::<Guard>();
    crosses_threads::<Guards>();
    crosses_threads::<LockId>();
    crosses_threads::<LockOptions>();
    crosses_threads::<Locks>();
    crosses_threads::<Lost>();
    crosses_threads::<Memory>();
    crosses_threads::<Metrics>();
    crosses_threads::<Mutex>();
    crosses_threads::<Prefix>();
    crosses_threads::<Registry>();
    crosses_threads::<Request>();
    crosses_threads::<Retry>();
    crosses_threads::<RwLock>();
    crosses_threads::<Semaphore>();
    crosses_threads::<Trace>();
}

#[test]
fn every_public_future_crosses_threads() {
    let locks = Locks::new(Memory::new());
    let (mutex, rw_lock) = (locks.mutex("x"), locks.rw_lock("x"));
    let (semaphore, all) = (locks.semaphore("x", 1), locks.all(["x"]));
    is_sent(mutex.lock());
    is_sent(mutex.holders());
    is_sent(mutex.break_lock("why"));
    is_sent(rw_lock.upgradeable_read());
    is_sent(semaphore.acquire());
    is_sent(all.lock());
    is_sent(locks.doctor());
    is_sent(locks.close());
    is_sent(lockwork::connect("memory:"));
    is_sent(async {
        let mut guard = rw_lock.upgradeable_read().await?;
        guard.upgrade().await?;
        guard.run(async {}).await?;
        guard.lost().await;
        guard.release().await
    });
}

#[test]
fn small_types_are_small() {
    assert_eq!(
        size_of::<Error>(),
        size_of::<usize>(),
        "an error is a pointer"
    );
    assert_eq!(
        size_of::<Option<Token>>(),
        size_of::<u64>(),
        "no token costs nothing"
    );
    assert_eq!(size_of::<Instant>(), size_of::<u64>());
    assert!(size_of::<Name>() <= 3 * size_of::<usize>());
}
