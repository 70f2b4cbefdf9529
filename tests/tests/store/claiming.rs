//! Claims, and who is fenced off by them.

use crate::support::*;
use lockwork::{
    runtime::store::{Claimed, Commit},
    workflow::{ErrorKind, SubStatus},
};

pub(crate) fn list() -> Vec<Case> {
    cases![
        each_claim_raises_the_epoch,
        nobody_claims_what_is_not_there,
        a_claim_gives_what_was_committed_last_and_by_which_claim,
        one_claim_may_commit_several_times,
        a_commit_with_an_old_claim_is_refused,
        a_commit_with_another_claim_id_is_refused,
        a_commit_with_an_epoch_that_nobody_was_given_is_refused,
        a_commit_with_an_old_version_is_refused,
        a_commit_with_a_version_that_is_not_there_yet_is_refused,
        a_commit_that_is_refused_writes_nothing_at_all,
        a_commit_to_what_is_not_there_finds_nothing,
        a_claim_to_an_earlier_instance_of_that_name_counts_for_nothing,
    ]
}

async fn each_claim_raises_the_epoch(cx: Cx) {
    cx.made("a").await;
    cx.made("b").await;
    for epoch in 1..=3 {
        let id = format!("claim {epoch}");
        let claimed = cx.claim(&instance("a"), &id).await.unwrap().unwrap();
        assert_eq!((claimed.claim.epoch, claimed.claim.version), (epoch, 0));
        assert_eq!(
            (claimed.claim.id, claimed.claim.instance),
            (id, instance("a"))
        );
        assert_eq!((claimed.cancel, claimed.committed_by), (false, None));
        assert_eq!(*claimed.state, state("a"));
    }
    assert_eq!(cx.load(&instance("a")).await.unwrap().unwrap().epoch, 3);
    assert_eq!(cx.claimed("b").await.claim.epoch, 1);
}

async fn nobody_claims_what_is_not_there(cx: Cx) {
    assert!(cx.claim(&instance("a"), "mine").await.unwrap().is_none());
    assert!(!cx.is_there("a").await);
}

async fn a_claim_gives_what_was_committed_last_and_by_which_claim(cx: Cx) {
    cx.waits("a", "Go").await;
    let first = cx.claimed("a").await;
    assert_eq!(first.state.sub_status, SubStatus::Suspended);
    assert_eq!(first.claim.version, 1);
    cx.commit(nothing(&first)).await.unwrap();
    for _ in 0..2 {
        let again = cx.claimed("a").await;
        assert_eq!(
            again.committed_by.as_ref(),
            Some(&first.claim.id),
            "claiming is not committing"
        );
        assert_eq!(again.claim.version, 2);
    }
}

async fn one_claim_may_commit_several_times(cx: Cx) {
    cx.made("a").await;
    let mut claimed = cx.claimed("a").await;
    for version in 1..=5 {
        let committed = cx.commit(nothing(&claimed)).await.unwrap();
        assert_eq!(committed.version, version);
        claimed.claim.version = version;
    }
}

/// That `commit` of the instance "a" does not count, and the one that could is not disturbed by it.
async fn is_fenced(cx: &Cx, commit: Commit, last: &Claimed) {
    assert_eq!(kind(cx.commit(commit).await), ErrorKind::Fenced);
    assert_eq!(*cx.state("a").await, *last.state);
    cx.commit(nothing(last)).await.unwrap();
}

async fn a_commit_with_an_old_claim_is_refused(cx: Cx) {
    cx.made("a").await;
    let (old, last) = (cx.claimed("a").await, cx.claimed("a").await);
    let mut commit = nothing(&old);
    commit.end();
    is_fenced(&cx, commit, &last).await;
}

async fn a_commit_with_another_claim_id_is_refused(cx: Cx) {
    cx.made("a").await;
    let last = cx.claimed("a").await;
    let mut commit = nothing(&last);
    commit.end();
    commit.claim.id = "another".to_owned();
    is_fenced(&cx, commit, &last).await;
}

async fn a_commit_with_an_epoch_that_nobody_was_given_is_refused(cx: Cx) {
    cx.made("a").await;
    let last = cx.claimed("a").await;
    let mut commit = nothing(&last);
    commit.end();
    commit.claim.epoch += 1;
    is_fenced(&cx, commit, &last).await;
}

async fn a_commit_with_an_old_version_is_refused(cx: Cx) {
    cx.made("a").await;
    let mut last = cx.claimed("a").await;
    cx.commit(nothing(&last)).await.unwrap();
    let mut again = nothing(&last);
    again.end();
    last.claim.version = 1;
    is_fenced(&cx, again, &last).await;
}

async fn a_commit_with_a_version_that_is_not_there_yet_is_refused(cx: Cx) {
    cx.made("a").await;
    let last = cx.claimed("a").await;
    let mut commit = nothing(&last);
    commit.end();
    commit.claim.version = 1;
    is_fenced(&cx, commit, &last).await;
}

async fn a_commit_that_is_refused_writes_nothing_at_all(cx: Cx) {
    cx.waits("a", "Go").await;
    let (old, last) = (cx.claimed("a").await, cx.claimed("a").await);
    let commit = crate::committing::everything(&old);
    assert_eq!(kind(cx.commit(commit).await), ErrorKind::Fenced);
    crate::committing::assert_untouched(&cx, &last).await;
}

async fn a_commit_to_what_is_not_there_finds_nothing(cx: Cx) {
    cx.made("a").await;
    let claimed = cx.claimed("a").await;
    assert!(cx.delete(&instance("a")).await.unwrap());
    assert_eq!(
        kind(cx.commit(nothing(&claimed)).await),
        ErrorKind::NotFound
    );
    assert!(!cx.is_there("a").await);
}

async fn a_claim_to_an_earlier_instance_of_that_name_counts_for_nothing(cx: Cx) {
    cx.made("a").await;
    let old = cx.claimed("a").await;
    cx.delete(&instance("a")).await.unwrap();
    cx.made("a").await;
    let last = cx.claimed("a").await;
    let mut commit = nothing(&old);
    commit.end();
    is_fenced(&cx, commit, &last).await;
}
