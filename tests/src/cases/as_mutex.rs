//! What every mutex does, whatever it is made of.

use super::{Case, case};
use crate::{
    Context, History,
    context::{SOON, a_while, within},
    generous,
};
use lockwork::Instant;
use std::{sync::Arc, time::Duration};

pub(super) fn list() -> Vec<Case> {
    vec![
        case!(one_holder_at_a_time_and_free_again_after).every_view(),
        case!(the_same_client_does_not_admit_itself_twice).every_view(),
        case!(other_names_are_other_locks).every_view(),
        case!(a_dropped_guard_lets_the_next_one_in).every_view(),
        case!(a_wait_that_runs_out_is_none_and_on_time).every_view(),
        case!(a_wait_gets_the_lock_when_it_is_released).every_view(),
        case!(a_hundred_tasks_of_three_clients_are_never_two_at_once).every_view(),
        case!(a_valid_guard_says_so_and_runs_work).every_view(),
    ]
}

async fn one_holder_at_a_time_and_free_again_after(cx: Context) {
    let (here, there, name) = (cx.client().await, cx.client().await, cx.name("x"));
    let _others = cx.view.prepare(&here, &name).await;
    let guard = cx.view.lock(&here, &name).await.unwrap();
    assert!(cx.view.try_lock(&there, &name).await.unwrap().is_none());
    guard.release().await.unwrap();
    let guard = cx
        .view
        .try_lock(&there, &name)
        .await
        .unwrap()
        .expect("free after the release");
    assert!(cx.view.try_lock(&here, &name).await.unwrap().is_none());
    guard.release().await.unwrap();
}

async fn the_same_client_does_not_admit_itself_twice(cx: Context) {
    let (locks, name) = (cx.client().await, cx.name("x"));
    let _others = cx.view.prepare(&locks, &name).await;
    let _guard = cx.view.lock(&locks, &name).await.unwrap();
    assert!(cx.view.try_lock(&locks, &name).await.unwrap().is_none());
    assert!(
        cx.view
            .try_lock(&locks.clone(), &name)
            .await
            .unwrap()
            .is_none()
    );
}

async fn other_names_are_other_locks(cx: Context) {
    let locks = cx.client().await;
    let _guard = cx.view.lock(&locks, &cx.name("x")).await.unwrap();
    assert!(
        cx.view
            .try_lock(&locks, &cx.name("y"))
            .await
            .unwrap()
            .is_some()
    );
}

async fn a_dropped_guard_lets_the_next_one_in(cx: Context) {
    let (here, there, name) = (cx.client().await, cx.client().await, cx.name("x"));
    let _others = cx.view.prepare(&here, &name).await;
    drop(cx.view.lock(&here, &name).await.unwrap());
    let next = cx.view.lock(&there, &name);
    within(SOON, "the next one gets in", next).await.unwrap();
}

async fn a_wait_that_runs_out_is_none_and_on_time(cx: Context) {
    let (here, there, name) = (cx.client().await, cx.client().await, cx.name("x"));
    let _others = cx.view.prepare(&here, &name).await;
    let _guard = cx.view.lock(&here, &name).await.unwrap();
    let limit = Duration::from_millis(200);
    for locks in [&here, &there] {
        let start = Instant::now();
        assert!(
            cx.view
                .try_lock_for(locks, &name, limit)
                .await
                .unwrap()
                .is_none()
        );
        let waited = start.elapsed();
        assert!(waited >= limit, "gave up after {waited:?}");
        let allowed = generous(limit + Duration::from_millis(300));
        assert!(
            waited < allowed,
            "gave up after {waited:?}, allowed {allowed:?}"
        );
    }
}

async fn a_wait_gets_the_lock_when_it_is_released(cx: Context) {
    let (here, there, name) = (cx.client().await, cx.client().await, cx.name("x"));
    let _others = cx.view.prepare(&here, &name).await;
    for locks in [here.clone(), there] {
        let guard = cx.view.lock(&here, &name).await.unwrap();
        let waiting = tokio::spawn({
            let (view, name) = (cx.view, name.clone());
            async move { view.try_lock_for(&locks, &name, SOON).await.unwrap() }
        });
        a_while().await;
        assert!(!waiting.is_finished());
        guard.release().await.unwrap();
        assert!(
            waiting.await.unwrap().is_some(),
            "it waited and did not get it: not within {SOON:?}"
        );
    }
}

async fn a_hundred_tasks_of_three_clients_are_never_two_at_once(cx: Context) {
    let (clients, name) = (
        [cx.client().await, cx.client().await, cx.client().await],
        cx.name("x"),
    );
    let _others = cx.view.prepare(&clients[0], &name).await;
    let history = Arc::new(History::new());
    let tasks: Vec<_> = (0..100)
        .map(|number| {
            let (view, name, locks) = (cx.view, name.clone(), clients[number % 3].clone());
            let history = history.clone();
            tokio::spawn(async move {
                let guard = view.lock(&locks, &name).await.unwrap();
                let from = Instant::now();
                tokio::time::sleep(Duration::from_millis(2)).await;
                assert!(guard.is_valid());
                let token = guard.token().filter(|_| view.has_token());
                history.leave(from, token);
                drop(guard);
            })
        })
        .collect();
    for task in tasks {
        within(Duration::from_secs(50), "every task gets in", task)
            .await
            .unwrap();
    }
    assert_eq!(history.check(), 100);
}

async fn a_valid_guard_says_so_and_runs_work(cx: Context) {
    let (locks, name) = (cx.client().await, cx.name("x"));
    let _others = cx.view.prepare(&locks, &name).await;
    let guard = cx.view.lock(&locks, &name).await.unwrap();
    assert!(guard.is_valid() && guard.lost().get().is_none());
    assert_eq!(guard.run(async { 7 }).await.unwrap(), 7);
    let lost = guard.lost();
    guard.release().await.unwrap();
    a_while().await;
    assert_eq!(lost.get(), None, "a release is not a loss");
}
