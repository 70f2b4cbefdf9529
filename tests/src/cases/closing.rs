//! Closing: no new requests, no waiting ones, and every release has arrived.

use super::{Case, case};
use crate::{
    Context,
    context::{SOON, a_while, within},
};
use lockwork::ErrorKind;

pub(super) fn list() -> Vec<Case> {
    vec![
        case!(closed_locks_refuse_and_end_waits_and_keep_what_is_held).every_view(),
        case!(what_a_backend_lacks_is_unsupported_at_once),
    ]
}

async fn closed_locks_refuse_and_end_waits_and_keep_what_is_held(cx: Context) {
    let (here, there, name) = (cx.client().await, cx.client().await, cx.name("x"));
    let _others = cx.view.prepare(&there, &name).await;
    let guard = cx.view.lock(&here, &name).await.unwrap();
    let waiting = tokio::spawn({
        let (view, locks, name) = (cx.view, here.clone(), name.clone());
        async move { view.lock(&locks, &name).await.map(drop) }
    });
    a_while().await;
    within(SOON, "closing ends", here.close()).await;
    let waited = within(SOON, "the wait ends", waiting).await.unwrap();
    assert_eq!(waited.unwrap_err().kind(), ErrorKind::Closed);
    let refused = cx.view.try_lock(&here, &name).await.unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Closed);
    assert!(guard.is_valid());
    assert!(cx.view.try_lock(&there, &name).await.unwrap().is_none());
    guard.release().await.unwrap();
    let next = cx.view.try_lock_for(&there, &name, SOON).await.unwrap();
    assert!(next.is_some(), "the next one is in: not within {SOON:?}");
}

async fn what_a_backend_lacks_is_unsupported_at_once(cx: Context) {
    let (locks, name) = (cx.client().await, cx.name("x"));
    let can = locks.info().capability;
    let outcomes = [
        (can.rw_lock, locks.rw_lock(&name).try_write().await),
        (
            can.upgradeable,
            locks.rw_lock(cx.name("y")).try_upgradeable_read().await,
        ),
        (can.semaphore, locks.semaphore(&name, 1).try_acquire().await),
    ];
    for (can, outcome) in outcomes {
        match outcome {
            Ok(granted) => assert!(can && granted.is_some()),
            Err(error) => assert!(!can && error.kind() == ErrorKind::Unsupported, "{error}"),
        }
    }
}
