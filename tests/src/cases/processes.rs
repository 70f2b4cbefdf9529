//! Other processes: started, ended, killed and frozen for real.

use super::{Case, Need, case};
use crate::{
    Context,
    context::{SOON, within},
};
use std::time::Duration;

const OTHERS: &[Need] = &[Need::OtherProcesses];

pub(super) fn list() -> Vec<Case> {
    vec![
        case!(processes_exclude_each_other).needs(OTHERS),
        case!(a_process_that_ends_without_release_frees_its_lock).needs(OTHERS),
        case!(a_killed_process_frees_its_lock).needs(OTHERS),
        case!(a_killed_process_that_waited_is_not_given_the_lock).needs(OTHERS),
        #[cfg(unix)]
        case!(a_frozen_holder_wakes_to_an_invalid_guard)
            .needs(&[Need::OtherProcesses, Need::Lease]),
    ]
}

async fn processes_exclude_each_other(cx: Context) {
    let (locks, name) = (cx.client().await, cx.name("x"));
    let mut other = cx.process().await.expect("needed");
    let token = other.lock(&name).await;
    assert!(locks.mutex(&name).try_lock().await.unwrap().is_none());
    other.release().await;
    let guard = locks
        .mutex(&name)
        .try_lock_for(SOON)
        .await
        .unwrap()
        .expect("free again: not within 5 s");
    assert!(token.is_none() || guard.token() > token);
    other.begin_lock(&name).await;
    tokio::time::sleep(Duration::from_millis(50)).await;
    let mine = guard.token();
    guard.release().await.unwrap();
    let theirs = within(SOON, "the other process gets in", other.token()).await;
    assert!(theirs >= mine);
}

async fn a_process_that_ends_without_release_frees_its_lock(cx: Context) {
    let (locks, name) = (cx.client().await, cx.name("x"));
    let mut other = cx.process().await.expect("needed");
    other.lock(&name).await;
    other.exit().await;
    let next = locks.mutex(&name);
    drop(
        within(cx.harness.takeover(), "the next one gets in", next.lock())
            .await
            .unwrap(),
    );
}

async fn a_killed_process_frees_its_lock(cx: Context) {
    let (locks, name) = (cx.client().await, cx.name("x"));
    for _ in 0..3 {
        let mut other = cx.process().await.expect("needed");
        other.lock(&name).await;
        let waiting = tokio::spawn({
            let mutex = locks.mutex(&name);
            async move { mutex.lock().await.unwrap() }
        });
        other.kill().await;
        let guard = within(cx.harness.takeover(), "the next one gets in", waiting)
            .await
            .unwrap();
        guard.release().await.unwrap();
    }
}

async fn a_killed_process_that_waited_is_not_given_the_lock(cx: Context) {
    let (locks, name) = (cx.client().await, cx.name("x"));
    let guard = locks.mutex(&name).lock().await.unwrap();
    let mut other = cx.process().await.expect("needed");
    other.begin_lock(&name).await;
    tokio::time::sleep(Duration::from_millis(100)).await;
    other.kill().await;
    guard.release().await.unwrap();
    let next = cx.client().await.mutex(&name);
    drop(
        within(cx.harness.takeover(), "the next one gets in", next.lock())
            .await
            .unwrap(),
    );
}

#[cfg(unix)]
async fn a_frozen_holder_wakes_to_an_invalid_guard(cx: Context) {
    let (locks, name) = (cx.client().await, cx.name("x"));
    let mut other = cx.process().await.expect("needed");
    let theirs = other.lock(&name).await;
    other.watch(Duration::from_millis(700)).await;
    other.freeze();
    let next = locks.mutex(&name);
    let guard = within(cx.harness.takeover(), "the next one gets in", next.lock())
        .await
        .unwrap();
    assert!(theirs.is_none() || guard.token() > theirs);
    // Longer than the gap the other process looks for.
    tokio::time::sleep(Duration::from_millis(800)).await;
    other.thaw();
    let (valid, lost) = other.look_after_gap().await;
    assert!(!valid, "a frozen holder believed in its lock when it woke");
    assert!(lost, "a frozen holder was not told");
    assert!(guard.is_valid());
}
