//! `max_hold`: a guard that lives for too long loses its lock, and the lock finds the next one.

#![allow(
    clippy::unwrap_used,
    reason = "a test says what it expects by unwrapping it"
)]

mod common;

use common::{
    alone, beside, eventually,
    leases::{LeaseBackend, Leases},
    ms, poll_once,
};
use lockwork_core::lock::{
    Backend, ErrorKind, Guard, Instant, LockOptions, Locks, Loss, Memory, Mode, backend::keeper,
};
use std::{future::pending, time::Duration};

/// A busy machine may be so late.
const LATE: Duration = ms(100);
const LIMIT: Duration = ms(200);

fn at_most(limit: Duration) -> LockOptions {
    LockOptions::new().max_hold(limit)
}

async fn held(locks: &Locks, limit: Duration) -> Guard {
    let guard = locks.mutex("a").lock_with(at_most(limit)).await;
    guard.unwrap().unwrap()
}

async fn upgradeable(locks: &Locks, limit: Duration) -> Guard {
    let options = at_most(limit);
    let guard = locks.rw_lock("a").upgradeable_read_with(options).await;
    guard.unwrap().unwrap()
}

#[tokio::test]
async fn a_guard_that_reaches_its_limit_is_lost_although_it_lives() {
    beside(ms(5000), async {
        let locks = Locks::new(Memory::new());
        let asked_at = Instant::now();
        let guard = held(&locks, LIMIT).await;
        assert!(guard.is_valid());
        let loss = guard.lost().await;
        let after = asked_at.elapsed();
        assert_eq!(loss, Loss::HeldTooLong);
        assert!(after >= LIMIT, "not before: {after:?}");
        assert!(after <= LIMIT + LATE, "too late: nor long after: {after:?}");
        assert!(!guard.is_valid());
    })
    .await;
}

#[tokio::test]
async fn a_guard_without_a_limit_is_not_lost() {
    beside(ms(5000), async {
        let locks = Locks::new(Memory::new());
        let free = locks.mutex("free").lock().await.unwrap();
        let limited = held(&locks, ms(50)).await;
        limited.lost().await;
        assert_eq!(free.lost().get(), None);
        assert_eq!(free.valid_until(), None);
    })
    .await;
}

#[tokio::test]
async fn what_was_held_too_long_goes_to_the_next_one_at_the_server() {
    beside(ms(5000), async {
        let memory = Memory::new();
        let (here, elsewhere) = (Locks::new(memory.clone()), Locks::new(memory.clone()));
        let guard = held(&here, LIMIT).await;
        let next = elsewhere.mutex("a").lock().await.unwrap();
        assert!(!guard.is_valid());
        assert!(next.is_valid());
        assert!(next.token() > Some(lockwork_core::lock::Token::from_server(1).unwrap()));
        drop(guard);
        assert!(here.mutex("a").try_lock().await.unwrap().is_none());
        assert_eq!(memory.len(), 1, "the first guard takes nothing with it");
    })
    .await;
}

#[tokio::test]
async fn what_was_held_too_long_goes_to_the_next_one_in_this_process() {
    beside(ms(5000), async {
        let locks = Locks::new(Memory::new());
        let guard = held(&locks, LIMIT).await;
        let token = guard.token();
        let next = locks.mutex("a").lock().await.unwrap();
        assert!(!guard.is_valid() && next.is_valid());
        assert!(next.token() > token);
        drop(guard);
        assert!(next.is_valid());
        assert!(locks.mutex("a").try_lock().await.unwrap().is_none());
    })
    .await;
}

#[tokio::test]
async fn releasing_what_was_held_too_long_says_so() {
    beside(ms(5000), async {
        let memory = Memory::new();
        let locks = Locks::new(memory.clone());
        let guard = held(&locks, LIMIT).await;
        guard.lost().await;
        let error = guard.release().await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Lost);
        assert!(error.to_string().contains(Loss::HeldTooLong.as_str()));
        eventually("nothing stays held", || memory.is_empty()).await;
    })
    .await;
}

#[tokio::test]
async fn a_guard_released_in_time_is_not_lost_afterwards() {
    beside(ms(5000), async {
        let locks = Locks::new(Memory::new());
        let guard = held(&locks, ms(100)).await;
        let (lost, until) = (guard.lost(), guard.valid_until().unwrap());
        guard.release().await.unwrap();
        let next = locks.mutex("a").lock().await.unwrap();
        eventually("the first guard's limit has passed", || {
            (until + ms(50)).has_passed()
        })
        .await;
        assert_eq!(lost.get(), None);
        assert!(next.is_valid());
        assert!(locks.mutex("a").try_lock().await.unwrap().is_none());
    })
    .await;
}

#[tokio::test]
async fn a_guard_that_is_gone_leaves_no_timer() {
    alone(ms(10_000), async {
        let locks = Locks::new(Memory::new());
        // What other tests left may still end meanwhile, so there are many guards, and no more
        // tasks afterwards than before.
        let before = keeper::tasks();
        for released in [false, true] {
            let mut guards = Vec::new();
            for n in 0..50 {
                let mutex = locks.mutex(n.to_string());
                guards.extend(mutex.lock_with(at_most(ms(60_000))).await.unwrap());
            }
            assert!(keeper::tasks() >= 50, "each has its timer");
            for guard in guards {
                if released {
                    guard.release().await.unwrap();
                }
            }
            eventually("their timers are gone", || keeper::tasks() <= before).await;
        }
    })
    .await;
}

#[tokio::test]
async fn a_guard_is_valid_until_its_limit_or_its_lease_ends() {
    beside(ms(5000), async {
        let locks = Locks::new(LeaseBackend::new(Leases::answering([]), ms(400)));
        let asked_at = Instant::now();
        let options = at_most(ms(60_000));
        let long = locks.mutex("long").lock_with(options).await.unwrap();
        let until = long.as_ref().unwrap().valid_until().unwrap();
        assert!(until <= Instant::now() + ms(400), "its lease ends first");

        let options = at_most(ms(150)).lease(ms(60_000));
        let short = locks.mutex("short").lock_with(options).await.unwrap();
        let short = short.unwrap();
        let until = short.valid_until().unwrap();
        assert!(until >= asked_at + ms(150));
        assert!(until <= Instant::now() + ms(150), "its limit ends first");
        assert_eq!(short.lost().await, Loss::HeldTooLong);
        assert_eq!(short.valid_until(), Some(until), "and does not move");
        drop(long);
    })
    .await;
}

#[tokio::test]
async fn a_lease_lost_before_the_limit_says_why() {
    beside(ms(5000), async {
        let locks = Locks::new(LeaseBackend::new(Leases::answering([]), ms(150)));
        let options = at_most(ms(60_000)).renew(false);
        let guard = locks.mutex("a").lock_with(options).await.unwrap().unwrap();
        assert_eq!(guard.lost().await, Loss::Expired);
    })
    .await;
}

#[tokio::test]
async fn what_is_held_too_long_is_surrendered_and_not_renewed_for_ever() {
    beside(ms(5000), async {
        let server = Leases::answering([]);
        let locks = Locks::new(LeaseBackend::new(server.clone(), ms(300)));
        let guard = held(&locks, ms(400)).await;
        server.surrenders.reached(1).await;
        assert!(!guard.is_valid());
        assert!(server.renewals.get() >= 2, "it was renewed until then");
    })
    .await;
}

#[tokio::test]
async fn work_inside_a_guard_ends_at_its_limit() {
    beside(ms(5000), async {
        let locks = Locks::new(Memory::new());
        let guard = held(&locks, LIMIT).await;
        let until = guard.valid_until().unwrap();
        let error = guard.run(pending::<()>()).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Lost);
        assert!(until.has_passed(), "not before");
        assert!(until.elapsed() <= LATE, "too late");
    })
    .await;
}

#[tokio::test]
async fn several_locks_have_one_limit_each() {
    beside(ms(5000), async {
        let memory = Memory::new();
        let locks = Locks::new(memory.clone());
        let both = locks.all(["a", "b"]).lock_with(at_most(LIMIT)).await;
        let both = both.unwrap().unwrap();
        assert_eq!(both.lost().await, Loss::HeldTooLong);
        let _a = locks.mutex("a").lock().await.unwrap();
        let _b = locks.mutex("b").lock().await.unwrap();
        assert!(!both.is_valid());
    })
    .await;
}

#[tokio::test]
async fn a_guard_with_a_limit_can_be_upgraded() {
    beside(ms(5000), async {
        let memory = Memory::new();
        let locks = Locks::new(memory.clone());
        let mut guard = upgradeable(&locks, ms(400)).await;
        let until = guard.valid_until();
        let reader = locks.rw_lock("a").read().await.unwrap();
        assert!(!guard.try_upgrade().await.unwrap());
        assert_eq!(guard.mode(), Mode::Upgradeable);
        reader.release().await.unwrap();
        guard.upgrade().await.unwrap();
        assert_eq!(guard.mode(), Mode::Write);
        assert!(guard.token().is_some());
        assert_eq!(guard.valid_until(), until, "by no more than it had");
        assert!(locks.rw_lock("a").try_read().await.unwrap().is_none());
        // The writer is held to the limit too.
        assert_eq!(guard.lost().await, Loss::HeldTooLong);
        let _reader = locks.rw_lock("a").read().await.unwrap();
    })
    .await;
}

#[tokio::test]
async fn a_dropped_upgrade_leaves_a_reader_with_its_limit() {
    beside(ms(5000), async {
        let memory = Memory::new();
        let locks = Locks::new(memory.clone());
        let mut guard = upgradeable(&locks, ms(400)).await;
        let reader = locks.rw_lock("a").read().await.unwrap();
        let mut upgrade = Box::pin(guard.upgrade());
        assert!(poll_once(&mut upgrade).is_pending());
        drop(upgrade);
        assert!(guard.is_valid());
        assert_eq!(guard.mode(), Mode::Upgradeable);
        let second = locks.rw_lock("a").try_read().await.unwrap();
        assert!(second.is_some(), "others read beside it again");
        drop((reader, second));
        assert!(guard.try_upgrade().await.unwrap());
        assert_eq!(guard.lost().await, Loss::HeldTooLong);
        eventually("nothing stays held", || memory.is_empty()).await;
    })
    .await;
}

#[tokio::test]
async fn an_upgrade_does_not_wait_past_the_limit() {
    beside(ms(5000), async {
        let memory = Memory::new();
        let locks = Locks::new(memory.clone());
        let mut guard = upgradeable(&locks, LIMIT).await;
        let until = guard.valid_until().unwrap();
        let reader = locks.rw_lock("a").read().await.unwrap();
        let error = guard.upgrade().await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Lost);
        assert!(until.has_passed(), "not before");
        assert!(until.elapsed() <= LATE, "too late");
        assert_eq!(guard.lost().await, Loss::HeldTooLong);
        // What the upgrade had in its hands was given back.
        let next = locks.rw_lock("a").upgradeable_read().await.unwrap();
        assert!(next.is_valid());
        drop((reader, next));
        eventually("nothing stays held", || memory.is_empty()).await;
    })
    .await;
}

#[tokio::test]
async fn an_upgrade_dropped_after_the_limit_gives_the_lock_back() {
    beside(ms(5000), async {
        let memory = Memory::new();
        let locks = Locks::new(memory.clone());
        let mut guard = upgradeable(&locks, ms(100)).await;
        let lost = guard.lost();
        let reader = locks.rw_lock("a").read().await.unwrap();
        let mut upgrade = Box::pin(guard.upgrade());
        assert!(poll_once(&mut upgrade).is_pending());
        assert_eq!(lost.await, Loss::HeldTooLong);
        drop(upgrade);
        let next = locks.rw_lock("a").upgradeable_read().await.unwrap();
        assert!(next.is_valid() && !guard.is_valid());
        drop((reader, next));
        eventually("nothing stays held", || memory.is_empty()).await;
    })
    .await;
}

#[tokio::test]
async fn a_guard_held_too_long_cannot_be_upgraded() {
    beside(ms(5000), async {
        let locks = Locks::new(Memory::new());
        let mut guard = upgradeable(&locks, ms(50)).await;
        guard.lost().await;
        let error = guard.upgrade().await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Lost);
        assert_eq!(guard.mode(), Mode::Upgradeable);
    })
    .await;
}

#[tokio::test]
async fn a_limit_of_centuries_is_no_limit() {
    beside(ms(5000), async {
        let locks = Locks::new(Memory::new());
        assert_eq!(locks.info(), Memory::new().info());
        let guard = held(&locks, Duration::MAX).await;
        keeper::spawn(async {}).await.unwrap();
        assert!(guard.is_valid());
        guard.release().await.unwrap();
    })
    .await;
}
