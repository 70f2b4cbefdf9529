//! Leases: renewed by us whatever the user's runtime does, and ended by our own clock.

use super::{Case, Need, case};
use crate::{
    Context, Stalls,
    context::{SOON, within},
    generous,
};
use lockwork::{Instant, LockOptions, Loss, Wait};
use std::time::Duration;

const LEASES: &[Need] = &[Need::Lease];

pub(super) fn list() -> Vec<Case> {
    vec![
        case!(a_lease_is_renewed_for_as_long_as_its_guard_lives).needs(LEASES),
        case!(a_runtime_blocked_for_three_leases_keeps_its_lock)
            .needs(&[Need::Lease, Need::ShortLease]),
        case!(a_lease_that_is_not_renewed_ends_on_time).needs(LEASES),
        case!(valid_until_is_never_later_than_the_server_thinks).needs(LEASES),
        case!(held_for_too_long_is_lost_and_the_next_one_gets_in),
    ]
}

fn short(cx: &Context) -> LockOptions {
    LockOptions::new().lease(cx.harness.lease())
}

/// So often within a few seconds, and once at least.
fn often(lease: Duration) -> u32 {
    let times = Duration::from_secs(5).as_millis() / lease.as_millis();
    u32::try_from(times).unwrap_or(1).max(1)
}

async fn a_lease_is_renewed_for_as_long_as_its_guard_lives(cx: Context) {
    let (here, there, name) = (cx.client().await, cx.client().await, cx.name("x"));
    let guard = here
        .mutex(&name)
        .lock_with(short(&cx))
        .await
        .unwrap()
        .unwrap();
    let (lease, stalls) = (cx.harness.lease(), Stalls::watch());
    let end = Instant::now() + lease * (often(lease) + 1);
    while !end.has_passed() {
        stalls.check(guard.is_valid(), lease, "the lease was not renewed");
        let other = there.mutex(&name).try_lock().await.unwrap();
        stalls.check(other.is_none(), lease, "somebody else was granted it");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    guard.release().await.unwrap();
}

async fn a_runtime_blocked_for_three_leases_keeps_its_lock(cx: Context) {
    let (locks, name) = (cx.client().await, cx.name("x"));
    let guard = locks
        .mutex(&name)
        .lock_with(short(&cx))
        .await
        .unwrap()
        .unwrap();
    let workers = tokio::runtime::Handle::current().metrics().num_workers();
    let (lease, stalls) = (cx.harness.lease(), Stalls::watch());
    let end = Instant::now() + lease * 3;
    // Every worker of the runtime, and this task's thread too. They sleep, as if in a call that blocks: if they span, those
    // of other cases would have no processor.
    let busy: Vec<_> = (0..workers)
        .map(|_| tokio::spawn(async move { std::thread::sleep(end.remaining()) }))
        .collect();
    std::thread::sleep(end.remaining());
    let what = format!("the lease was not renewed: {:?}", guard.lost().get());
    stalls.check(guard.is_valid(), lease, &what);
    for task in busy {
        task.await.unwrap();
    }
    let other = cx.client().await;
    let other = other.mutex(&name).try_lock().await.unwrap();
    stalls.check(other.is_none(), lease, "somebody else was granted it");
    guard.release().await.unwrap();
}

async fn a_lease_that_is_not_renewed_ends_on_time(cx: Context) {
    let (here, there, name) = (cx.client().await, cx.client().await, cx.name("x"));
    let asked = Instant::now();
    let guard = here
        .mutex(&name)
        .lock_with(short(&cx).renew(false))
        .await
        .unwrap()
        .unwrap();
    let until = guard.valid_until().expect("a lease has an end");
    assert!(until <= asked + cx.harness.lease() + generous(Duration::ZERO));
    assert_eq!(
        within(
            cx.harness.lease() + SOON,
            "the loss is told",
            guard.lost().into_future()
        )
        .await,
        Loss::Expired
    );
    assert!(!guard.is_valid() && until.has_passed());
    let late = until.elapsed();
    assert!(
        late < generous(Duration::from_millis(50)),
        "told {late:?} too late"
    );
    let wait = LockOptions::new().wait(Wait::For(SOON));
    let next = there.mutex(&name).lock_with(wait).await.unwrap();
    assert!(next.is_some(), "the next one is in: not within {SOON:?}");
}

async fn valid_until_is_never_later_than_the_server_thinks(cx: Context) {
    let (here, there, name) = (cx.client().await, cx.client().await, cx.name("x"));
    for _ in 0..often(cx.harness.lease()) {
        let options = short(&cx).renew(false);
        let guard = here.mutex(&name).lock_with(options).await.unwrap().unwrap();
        let next = there
            .mutex(&name)
            .try_lock_for(cx.harness.lease() + SOON)
            .await
            .unwrap()
            .expect("it runs out: not within its lease and 5 s");
        assert!(!guard.is_valid(), "two valid guards at once");
        next.release().await.unwrap();
    }
}

async fn held_for_too_long_is_lost_and_the_next_one_gets_in(cx: Context) {
    let (here, there, name) = (cx.client().await, cx.client().await, cx.name("x"));
    let options = LockOptions::new().max_hold(Duration::from_millis(100));
    for locks in [&here, &there] {
        let guard = here.mutex(&name).lock_with(options).await.unwrap().unwrap();
        let next = locks
            .mutex(&name)
            .try_lock_for(SOON)
            .await
            .unwrap()
            .expect("it is let go: not within 5 s");
        assert_eq!(guard.lost().get(), Some(Loss::HeldTooLong));
        assert!(!guard.is_valid() && next.is_valid());
        next.release().await.unwrap();
    }
}
