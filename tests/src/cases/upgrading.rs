//! Readers that may become the writer.

use super::{Case, Need, case};
use crate::{
    Context,
    context::{SOON, a_while, until, within},
};
use lockwork::{ErrorKind, Mode};
use std::time::Duration;

const UPGRADEABLE: &[Need] = &[Need::Upgradeable];

pub(super) fn list() -> Vec<Case> {
    vec![
        case!(one_upgradeable_reader_beside_any_readers).needs(UPGRADEABLE),
        case!(an_upgrade_waits_until_the_readers_have_left).needs(UPGRADEABLE),
        case!(an_upgrade_that_runs_out_leaves_the_reader).needs(UPGRADEABLE),
        case!(an_upgraded_guard_is_the_writer_with_a_token)
            .needs(&[Need::Upgradeable, Need::Token]),
        case!(a_second_upgrade_is_an_error_and_changes_nothing).needs(UPGRADEABLE),
        case!(only_an_upgradeable_reader_can_be_upgraded).needs(UPGRADEABLE),
        case!(an_upgrade_dropped_half_way_leaves_a_reader_that_can_upgrade).needs(UPGRADEABLE),
        case!(an_upgraded_guard_can_still_be_lost).needs(&[Need::Upgradeable, Need::Sever]),
        case!(an_upgrader_hears_of_its_loss_and_is_in_nobodys_way)
            .needs(&[Need::Upgradeable, Need::Sever]),
    ]
}

async fn one_upgradeable_reader_beside_any_readers(cx: Context) {
    let (here, there, name) = (cx.client().await, cx.client().await, cx.name("x"));
    let (here, there) = (here.rw_lock(&name), there.rw_lock(&name));
    let upgradeable = here.upgradeable_read().await.unwrap();
    let readers = [here.read().await.unwrap(), there.read().await.unwrap()];
    for lock in [&here, &there] {
        assert!(lock.try_upgradeable_read().await.unwrap().is_none());
        assert!(lock.try_write().await.unwrap().is_none());
    }
    upgradeable.release().await.unwrap();
    assert!(there.try_upgradeable_read().await.unwrap().is_some());
    drop(readers);
}

async fn an_upgrade_waits_until_the_readers_have_left(cx: Context) {
    let (here, there, name) = (cx.client().await, cx.client().await, cx.name("x"));
    for lock in [here.rw_lock(&name), there.rw_lock(&name)] {
        let mut guard = here.rw_lock(&name).upgradeable_read().await.unwrap();
        let reader = lock.read().await.unwrap();
        assert!(
            !guard.try_upgrade().await.unwrap(),
            "a reader was in the way"
        );
        assert_eq!(guard.mode(), Mode::Upgradeable);
        let upgrading = tokio::spawn(async move {
            guard.upgrade().await.unwrap();
            guard
        });
        a_while().await;
        assert!(!upgrading.is_finished(), "it did not wait for the reader");
        reader.release().await.unwrap();
        let guard = within(SOON, "the upgrade is done", upgrading)
            .await
            .unwrap();
        assert_eq!(guard.mode(), Mode::Write);
        assert!(lock.try_read().await.unwrap().is_none());
        guard.release().await.unwrap();
        let reading = lock.try_read_for(SOON).await.unwrap();
        reading
            .expect("readers come in again: not within 5 s")
            .release()
            .await
            .unwrap();
    }
}

async fn an_upgrade_that_runs_out_leaves_the_reader(cx: Context) {
    let (locks, name) = (cx.client().await, cx.name("x"));
    let lock = locks.rw_lock(&name);
    let mut guard = lock.upgradeable_read().await.unwrap();
    let reader = lock.read().await.unwrap();
    assert!(
        !guard
            .try_upgrade_for(Duration::from_millis(80))
            .await
            .unwrap()
    );
    assert!(guard.is_valid() && guard.mode() == Mode::Upgradeable);
    let another = lock.try_read_for(SOON).await.unwrap();
    assert!(
        another.is_some(),
        "readers are kept out after the upgrade was given up: not within {SOON:?}"
    );
    drop((reader, another));
    within(SOON, "a later upgrade is done", guard.upgrade())
        .await
        .unwrap();
}

async fn an_upgraded_guard_is_the_writer_with_a_token(cx: Context) {
    let (locks, name) = (cx.client().await, cx.name("x"));
    let lock = locks.rw_lock(&name);
    let before = lock.write().await.unwrap();
    let token = before.token();
    before.release().await.unwrap();
    let mut guard = lock.upgradeable_read().await.unwrap();
    guard.upgrade().await.unwrap();
    assert!(guard.token() > token, "{:?} after {token:?}", guard.token());
    let token = guard.token();
    guard.release().await.unwrap();
    assert!(lock.write().await.unwrap().token() > token);
}

async fn a_second_upgrade_is_an_error_and_changes_nothing(cx: Context) {
    let (locks, name) = (cx.client().await, cx.name("x"));
    let mut guard = locks.rw_lock(&name).upgradeable_read().await.unwrap();
    guard.upgrade().await.unwrap();
    assert_eq!(
        guard.upgrade().await.unwrap_err().kind(),
        ErrorKind::Invalid
    );
    assert!(guard.is_valid() && guard.mode() == Mode::Write);
    assert!(locks.rw_lock(&name).try_read().await.unwrap().is_none());
}

async fn only_an_upgradeable_reader_can_be_upgraded(cx: Context) {
    let (locks, name) = (cx.client().await, cx.name("x"));
    let mut reader = locks.rw_lock(&name).read().await.unwrap();
    assert_eq!(
        reader.upgrade().await.unwrap_err().kind(),
        ErrorKind::Invalid
    );
    let mut mutex = locks.mutex(&name).lock().await.unwrap();
    assert_eq!(
        mutex.try_upgrade().await.unwrap_err().kind(),
        ErrorKind::Invalid
    );
    assert!(reader.is_valid() && mutex.is_valid());
}

async fn an_upgrade_dropped_half_way_leaves_a_reader_that_can_upgrade(cx: Context) {
    let (here, there, name) = (cx.client().await, cx.client().await, cx.name("x"));
    let (here, there) = (here.rw_lock(&name), there.rw_lock(&name));
    let mut guard = here.upgradeable_read().await.unwrap();
    for pause in [0, 1, 2, 5, 10, 20, 40] {
        let reader = there
            .try_read_for(SOON)
            .await
            .unwrap()
            .expect("readers may come in");
        let pause = Duration::from_millis(pause);
        let half_way = tokio::time::timeout(pause, guard.upgrade()).await;
        assert!(half_way.is_err(), "a reader was in the way: {half_way:?}");
        reader.release().await.unwrap();
    }
    within(SOON, "a later upgrade is done", guard.upgrade())
        .await
        .unwrap();
    assert!(
        there.try_read().await.unwrap().is_none(),
        "the writer is not alone"
    );
    guard.release().await.unwrap();
    drop((here, there));
    cx.nothing_left(SOON).await;
}

async fn an_upgraded_guard_can_still_be_lost(cx: Context) {
    let (locks, name) = (cx.client().await, cx.name("x"));
    let mut guard = locks.rw_lock(&name).upgradeable_read().await.unwrap();
    let lost = guard.lost();
    guard.upgrade().await.unwrap();
    cx.harness.sever().expect("needed").await;
    until(cx.harness.notice(), "a loss is noticed", || {
        lost.get().is_some()
    })
    .await;
    assert!(!guard.is_valid());
}

async fn an_upgrader_hears_of_its_loss_and_is_in_nobodys_way(cx: Context) {
    let (locks, name) = (cx.client().await, cx.name("x"));
    let mut guard = locks.rw_lock(&name).upgradeable_read().await.unwrap();
    let _reader = locks.rw_lock(&name).read().await.unwrap();
    let upgrading = tokio::spawn(async move { guard.upgrade().await });
    a_while().await;
    cx.harness.sever().expect("needed").await;
    let limit = cx.harness.notice() + cx.harness.patience();
    let upgraded = within(limit, "the upgrader hears of it", upgrading)
        .await
        .unwrap();
    assert_eq!(upgraded.unwrap_err().kind(), ErrorKind::Lost);
    drop(
        within(SOON, "a writer gets in", locks.rw_lock(&name).write())
            .await
            .unwrap(),
    );
}
