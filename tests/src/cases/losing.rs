//! A grant that is gone is told, and never healed.

use super::{Case, Need, case};
use crate::{
    Context, View,
    context::{SOON, a_while, until, within},
    generous,
};
use lockwork::ErrorKind;

const SEVER: &[Need] = &[Need::Sever];

pub(super) fn list() -> Vec<Case> {
    vec![
        case!(a_loss_is_told_and_the_guard_turns_itself_off)
            .every_view()
            .needs(SEVER),
        case!(a_loss_stops_the_work_under_the_lock)
            .every_view()
            .needs(SEVER),
        case!(a_loss_that_has_happened_is_told_to_who_asks_later).needs(SEVER),
        case!(a_lost_lock_can_be_taken_anew_although_its_guard_lives)
            .every_view()
            .needs(SEVER),
        case!(a_try_after_the_loss_gets_the_lock_although_its_guard_lives)
            .every_view()
            .needs(SEVER),
        case!(a_lost_guard_frees_nobody_elses_lock)
            .every_view()
            .needs(SEVER),
        case!(every_guard_of_a_client_is_told).needs(SEVER),
    ]
}

async fn a_loss_is_told_and_the_guard_turns_itself_off(cx: Context) {
    let (locks, name) = (cx.client().await, cx.name("x"));
    let _others = cx.view.prepare(&locks, &name).await;
    let guard = cx.view.lock(&locks, &name).await.unwrap();
    let lost = guard.lost();
    a_while().await;
    assert!(lost.get().is_none());
    cx.harness.sever().expect("needed").await;
    within(cx.harness.notice(), "the loss is told", lost.into_future()).await;
    assert!(!guard.is_valid());
    a_while().await;
    assert!(!guard.is_valid(), "a loss was healed");
    assert_eq!(guard.release().await.unwrap_err().kind(), ErrorKind::Lost);
}

async fn a_loss_stops_the_work_under_the_lock(cx: Context) {
    let (locks, name) = (cx.client().await, cx.name("x"));
    let _others = cx.view.prepare(&locks, &name).await;
    let guard = cx.view.lock(&locks, &name).await.unwrap();
    let working = tokio::spawn(async move { guard.run(std::future::pending::<()>()).await });
    a_while().await;
    cx.harness.sever().expect("needed").await;
    let outcome = within(cx.harness.notice(), "the work stops", working)
        .await
        .unwrap();
    assert_eq!(outcome.unwrap_err().kind(), ErrorKind::Lost);
}

async fn a_loss_that_has_happened_is_told_to_who_asks_later(cx: Context) {
    let (locks, name) = (cx.client().await, cx.name("x"));
    let guard = locks.mutex(&name).lock().await.unwrap();
    cx.harness.sever().expect("needed").await;
    until(cx.harness.notice(), "the loss is noticed", || {
        !guard.is_valid()
    })
    .await;
    within(SOON, "who asks later is told", guard.lost().into_future()).await;
    assert_eq!(
        guard.run(async {}).await.unwrap_err().kind(),
        ErrorKind::Lost
    );
}

async fn a_lost_lock_can_be_taken_anew_although_its_guard_lives(cx: Context) {
    let (locks, name) = (cx.client().await, cx.name("x"));
    let _others = cx.view.prepare(&locks, &name).await;
    let zombie = cx.view.lock(&locks, &name).await.unwrap();
    let waiting = tokio::spawn({
        let (view, locks, name) = (cx.view, locks.clone(), name.clone());
        async move { view.lock(&locks, &name).await.unwrap() }
    });
    a_while().await;
    cx.harness.sever().expect("needed").await;
    let limit = cx.harness.notice() + cx.harness.patience();
    let next = within(limit, "the one who waited gets in", waiting)
        .await
        .unwrap();
    assert!(next.is_valid());
    if cx.view == View::LastPermit {
        // It may have got the permit of one of the others, who has noticed before.
        let noticed = || !zombie.is_valid();
        until(cx.harness.notice(), "the loss is noticed", noticed).await;
    }
    assert!(!zombie.is_valid());
    let _others = cx.view.prepare(&locks, &name).await;
    drop(zombie);
    a_while().await;
    assert!(next.is_valid(), "a lost guard freed the next one's lock");
    assert!(cx.view.try_lock(&locks, &name).await.unwrap().is_none());
}

async fn a_try_after_the_loss_gets_the_lock_although_its_guard_lives(cx: Context) {
    let (locks, name) = (cx.client().await, cx.name("x"));
    let zombie = cx.view.lock(&locks, &name).await.unwrap();
    cx.harness.sever().expect("needed").await;
    until(cx.harness.notice(), "the loss is noticed", || {
        !zombie.is_valid()
    })
    .await;
    // What the connection needs to come back is not what this is about.
    let limit = std::time::Instant::now() + generous(SOON);
    while cx.view.try_lock(&locks, &name).await.unwrap().is_none() {
        assert!(
            std::time::Instant::now() < limit,
            "a lost guard keeps its own process out: not within {SOON:?}"
        );
        a_while().await;
    }
}

async fn a_lost_guard_frees_nobody_elses_lock(cx: Context) {
    let (here, there, name) = (cx.client().await, cx.client().await, cx.name("x"));
    let zombie = cx.view.lock(&here, &name).await.unwrap();
    cx.harness.sever().expect("needed").await;
    until(cx.harness.notice(), "the loss is noticed", || {
        !zombie.is_valid()
    })
    .await;
    let next = within(SOON, "another client gets it", cx.view.lock(&there, &name))
        .await
        .unwrap();
    let _others = cx.view.prepare(&there, &name).await;
    let _ = zombie.release().await;
    a_while().await;
    assert!(next.is_valid());
    let third = cx.client().await;
    assert!(
        cx.view.try_lock(&third, &name).await.unwrap().is_none(),
        "freed by a stranger"
    );
    if cx.view.has_token() && there.info().capability.token {
        assert!(next.token().is_some());
    }
}

async fn every_guard_of_a_client_is_told(cx: Context) {
    let locks = cx.client().await;
    let mut guards = Vec::new();
    for number in 0..100 {
        guards.push(
            locks
                .mutex(cx.name(&number.to_string()))
                .lock()
                .await
                .unwrap(),
        );
    }
    cx.harness.sever().expect("needed").await;
    let all_told = || guards.iter().all(|guard| guard.lost().get().is_some());
    until(cx.harness.notice(), "every guard is told", all_told).await;
}
