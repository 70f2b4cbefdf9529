//! Guards dropped anywhere give their lock back.

use super::{Case, case};
use crate::{Context, context::SOON};
use std::time::Duration;

pub(super) fn list() -> Vec<Case> {
    vec![
        case!(a_guard_dropped_outside_any_runtime_is_released).every_view(),
        case!(a_guard_that_outlives_its_runtime_is_released).every_view(),
        case!(a_release_nobody_waits_for_arrives).every_view(),
        case!(close_waits_for_every_release_under_way),
        case!(locks_work_from_one_runtime_after_another),
        case!(a_guard_dropped_while_its_loss_is_awaited_is_released),
    ]
}

async fn a_guard_dropped_outside_any_runtime_is_released(cx: Context) {
    let (locks, name) = (cx.client().await, cx.name("x"));
    let _others = cx.view.prepare(&locks, &name).await;
    let guard = cx.view.lock(&locks, &name).await.unwrap();
    std::thread::spawn(move || drop(guard)).join().unwrap();
    let next = cx
        .view
        .try_lock_for(&cx.client().await, &name, SOON)
        .await
        .unwrap();
    assert!(next.is_some());
}

async fn a_guard_that_outlives_its_runtime_is_released(cx: Context) {
    let (locks, name) = (cx.client().await, cx.name("x"));
    let _others = cx.view.prepare(&locks, &name).await;
    let taken = std::thread::spawn({
        let (view, locks, name) = (cx.view, locks.clone(), name.clone());
        move || runtime().block_on(async { view.lock(&locks, &name).await.unwrap() })
    });
    let guard = tokio::task::spawn_blocking(|| taken.join().unwrap())
        .await
        .unwrap();
    assert!(guard.is_valid());
    drop(guard);
    let next = cx
        .view
        .try_lock_for(&cx.client().await, &name, SOON)
        .await
        .unwrap();
    assert!(next.is_some());
}

async fn a_release_nobody_waits_for_arrives(cx: Context) {
    let (here, there, name) = (cx.client().await, cx.client().await, cx.name("x"));
    let _others = cx.view.prepare(&here, &name).await;
    for _ in 0..10 {
        let guard = cx.view.lock(&here, &name).await.unwrap();
        let _ = tokio::time::timeout(Duration::ZERO, guard.release()).await;
        let next = cx.view.try_lock_for(&there, &name, SOON).await.unwrap();
        next.expect("the release arrives: not within 5 s")
            .release()
            .await
            .unwrap();
    }
}

async fn close_waits_for_every_release_under_way(cx: Context) {
    let locks = cx.client().await;
    let names: Vec<_> = (0..50).map(|number| cx.name(&number.to_string())).collect();
    for name in &names {
        drop(locks.mutex(name).lock().await.unwrap());
    }
    locks.close().await;
    let others = cx.client().await;
    for name in &names {
        assert!(
            others.mutex(name).try_lock().await.unwrap().is_some(),
            "{name} is still held"
        );
    }
}

async fn locks_work_from_one_runtime_after_another(cx: Context) {
    let (locks, name) = (cx.client().await, cx.name("x"));
    for _ in 0..3 {
        let (locks, name) = (locks.clone(), name.clone());
        let working = std::thread::spawn(move || {
            runtime().block_on(async {
                let guard = locks.mutex(&name).lock().await.unwrap();
                assert!(locks.mutex(&name).try_lock().await.unwrap().is_none());
                guard.release().await.unwrap();
            });
        });
        tokio::task::spawn_blocking(|| working.join().unwrap())
            .await
            .unwrap();
    }
}

async fn a_guard_dropped_while_its_loss_is_awaited_is_released(cx: Context) {
    let (locks, name) = (cx.client().await, cx.name("x"));
    let guard = locks.mutex(&name).lock().await.unwrap();
    let watching = tokio::spawn(guard.lost().into_future());
    tokio::task::yield_now().await;
    drop(guard);
    let next = cx
        .client()
        .await
        .mutex(&name)
        .try_lock_for(SOON)
        .await
        .unwrap();
    assert!(next.is_some());
    assert!(!watching.is_finished(), "a release is not a loss");
    watching.abort();
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime")
}
