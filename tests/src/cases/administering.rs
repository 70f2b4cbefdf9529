//! Seeing who holds what, breaking a lock, and looking at the deployment.

use super::{Case, Need, case};
use crate::{
    Context, Promise,
    context::{SOON, until, within},
};
use lockwork::{ErrorKind, Mode};

const KNOWS_HOLDERS: Need = Need::Promise(Promise::KnowsHolders);

pub(super) fn list() -> Vec<Case> {
    vec![
        case!(holders_are_told_with_mode_and_token).needs(&[KNOWS_HOLDERS]),
        case!(who_waits_is_told).needs(&[Need::Promise(Promise::KnowsWaiters)]),
        case!(a_broken_lock_is_lost_and_its_next_token_is_higher).needs(&[KNOWS_HOLDERS]),
        case!(a_lock_nobody_holds_can_be_broken_without_harm).needs(&[KNOWS_HOLDERS]),
        case!(readers_are_broken_all_at_once).needs(&[KNOWS_HOLDERS, Need::RwLock]),
        case!(permits_are_broken_all_at_once).needs(&[KNOWS_HOLDERS, Need::Semaphore]),
        case!(the_doctor_finds_nothing_unsafe_here),
    ]
}

async fn holders_are_told_with_mode_and_token(cx: Context) {
    let (here, there, name) = (cx.client().await, cx.client().await, cx.name("x"));
    assert!(
        there
            .mutex(&name)
            .holders()
            .await
            .unwrap()
            .holders
            .is_empty()
    );
    let guard = here.mutex(&name).lock().await.unwrap();
    let told = there.mutex(&name).holders().await.unwrap();
    assert_eq!(told.holders.len(), 1);
    assert_eq!(told.holders[0].mode, Mode::Exclusive);
    if cx.harness.promises(Promise::KnowsTokens) {
        assert_eq!(told.holders[0].token, guard.token());
    }
    let full = format!("{:?}", told.holders[0].owner);
    assert!(
        full.len() < 32,
        "an owner id is a key to its lock and is not shown whole: {full}"
    );
    guard.release().await.unwrap();
    assert!(
        there
            .mutex(&name)
            .holders()
            .await
            .unwrap()
            .holders
            .is_empty()
    );
}

async fn who_waits_is_told(cx: Context) {
    let (here, there, name) = (cx.client().await, cx.client().await, cx.name("x"));
    let guard = here.mutex(&name).lock().await.unwrap();
    let waiting = tokio::spawn({
        let mutex = there.mutex(&name);
        async move { mutex.lock().await.unwrap() }
    });
    cx.until_waiting(&here, &name, 1).await;
    let told = here.mutex(&name).holders().await.unwrap();
    assert_eq!((told.holders.len(), told.waiting.len()), (1, 1));
    assert_eq!(told.waiting[0].mode, Mode::Exclusive);
    guard.release().await.unwrap();
    drop(within(SOON, "who waited gets in", waiting).await.unwrap());
}

async fn a_broken_lock_is_lost_and_its_next_token_is_higher(cx: Context) {
    let (here, there, name) = (cx.client().await, cx.client().await, cx.name("x"));
    let guard = here.mutex(&name).lock().await.unwrap();
    let broken = there
        .mutex(&name)
        .break_lock("the holder hangs")
        .await
        .unwrap();
    assert_eq!(broken, 1);
    let next = there
        .mutex(&name)
        .try_lock_for(SOON)
        .await
        .unwrap()
        .expect("free after that");
    assert!(guard.token().is_none() || next.token() > guard.token());
    until(cx.harness.notice(), "the holder is told", || {
        !guard.is_valid()
    })
    .await;
    assert_eq!(guard.release().await.unwrap_err().kind(), ErrorKind::Lost);
    assert!(next.is_valid());
    assert!(
        here.mutex(&name).try_lock().await.unwrap().is_none(),
        "freed by a stranger"
    );
}

async fn a_lock_nobody_holds_can_be_broken_without_harm(cx: Context) {
    let (locks, name) = (cx.client().await, cx.name("x"));
    assert_eq!(locks.mutex(&name).break_lock("to see").await.unwrap(), 0);
    assert!(locks.mutex(&name).try_lock().await.unwrap().is_some());
}

async fn readers_are_broken_all_at_once(cx: Context) {
    let (here, there, name) = (cx.client().await, cx.client().await, cx.name("x"));
    let (lock, other_lock) = (here.rw_lock(&name), there.rw_lock(&name));
    let readers = [lock.read().await.unwrap(), other_lock.read().await.unwrap()];
    assert_eq!(lock.break_lock("to see").await.unwrap(), 2);
    let all_told = || readers.iter().all(|guard| !guard.is_valid());
    until(cx.harness.notice(), "all readers are told", all_told).await;
    assert!(lock.try_write_for(SOON).await.unwrap().is_some());
}

async fn permits_are_broken_all_at_once(cx: Context) {
    let (here, there, name) = (cx.client().await, cx.client().await, cx.name("x"));
    let (permits, other_permits) = (here.semaphore(&name, 2), there.semaphore(&name, 2));
    let permitted = [
        permits.acquire().await.unwrap(),
        other_permits.acquire().await.unwrap(),
    ];
    assert_eq!(permits.break_lock("to see").await.unwrap(), 2);
    let all_told = || permitted.iter().all(|guard| !guard.is_valid());
    until(cx.harness.notice(), "all permits are told", all_told).await;
    assert!(permits.try_acquire_for(SOON).await.unwrap().is_some());
}

async fn the_doctor_finds_nothing_unsafe_here(cx: Context) {
    let report = cx.client().await.doctor().await.unwrap();
    assert!(report.is_safe(), "{report:?}");
    for finding in report.findings {
        assert!(!finding.what.is_empty() && !finding.remedy.is_empty());
    }
}
