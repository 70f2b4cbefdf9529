//! Asking for the end of an instance.

use crate::support::*;

pub(crate) fn list() -> Vec<Case> {
    cases![
        nobody_ends_what_is_not_there,
        whoever_claims_it_is_told_that_somebody_wants_its_end,
        whoever_commits_is_told_that_somebody_wants_its_end,
        what_is_over_is_not_ended_again,
        once_it_is_over_nobody_wants_its_end_any_more,
    ]
}

async fn nobody_ends_what_is_not_there(cx: Cx) {
    assert_eq!(cx.request_cancel(&instance("a")).await.unwrap(), None);
    cx.made("a").await;
    assert!(!cx.claimed("a").await.cancel, "it did not exist then");
}

async fn whoever_claims_it_is_told_that_somebody_wants_its_end(cx: Cx) {
    cx.made("a").await;
    cx.made("b").await;
    for _ in 0..2 {
        assert_eq!(
            cx.request_cancel(&instance("a")).await.unwrap(),
            Some(false)
        );
        assert!(cx.claimed("a").await.cancel);
    }
    assert!(!cx.claimed("b").await.cancel);
}

async fn whoever_commits_is_told_that_somebody_wants_its_end(cx: Cx) {
    cx.made("a").await;
    let mut claimed = cx.claimed("a").await;
    assert!(!cx.commit(nothing(&claimed)).await.unwrap().cancel);
    cx.request_cancel(&instance("a")).await.unwrap();
    claimed.claim.version = 1;
    assert!(
        cx.commit(nothing(&claimed)).await.unwrap().cancel,
        "the claim stands"
    );
}

async fn what_is_over_is_not_ended_again(cx: Cx) {
    cx.made("a").await;
    cx.change("a", |commit| commit.end()).await;
    assert_eq!(cx.request_cancel(&instance("a")).await.unwrap(), Some(true));
    assert!(!cx.claimed("a").await.cancel);
}

async fn once_it_is_over_nobody_wants_its_end_any_more(cx: Cx) {
    cx.made("a").await;
    cx.request_cancel(&instance("a")).await.unwrap();
    assert!(!cx.change("a", |commit| commit.end()).await.cancel);
    assert!(!cx.claimed("a").await.cancel);
}
