//! What a commit writes, all of it or nothing.

use crate::support::*;
use lockwork::{
    runtime::store::{Claimed, Commit, Creation, ErrandKind, NewInstance},
    workflow::{ErrorKind, SubStatus},
};
use serde_json::json;

pub(crate) fn list() -> Vec<Case> {
    cases![
        the_state_is_what_was_committed,
        the_errand_that_was_done_is_gone,
        whoever_lost_the_errand_commits_nothing_at_all,
        an_errand_that_stays_is_handed_out_as_if_for_the_first_time,
        whoever_lost_an_errand_that_stays_commits_nothing_at_all,
        an_errand_that_is_gone_is_held_by_nobody,
        what_was_over_does_not_run_again_beside_another,
        what_has_to_be_done_is_added_once,
        what_has_to_be_done_if_nobody_goes_on_is_held,
        the_journal_grows_in_order,
        tasks_are_there_as_long_as_their_bookmarks,
        a_bookmark_that_is_replaced_is_another_one,
    ]
}

/// A commit of the instance that [waits](Cx::waits), in which everything changes.
pub(crate) fn everything(claimed: &Claimed) -> Commit {
    let mut commit = nothing(claimed);
    commit.leave("a:1");
    commit.wait(mark("a:2", "Other"));
    commit.wait(alarm("a:3", later(60)));
    commit.state().variables = values(json!({ "changed": true }));
    commit.state().correlation = Some("changed".to_owned());
    commit.journal = vec![entry(0, "changed")];
    commit.errands = vec![errand("changed", "b", NOW)];
    commit.jobs = vec![job("a:2")];
    commit.tasks = vec![task("a:2", "a")];
    commit.continues = Some((errand("goes on", "a", NOW), later(30)));
    commit
}

/// Nothing of [that](everything) was written, and whoever has the last claim can write it.
pub(crate) async fn assert_untouched(cx: &Cx, last: &Claimed) {
    assert_eq!(*cx.state("a").await, *last.state);
    assert_eq!(
        cx.load(&instance("a")).await.unwrap().unwrap().version,
        last.claim.version
    );
    assert!(cx.journal(&instance("a"), 0).await.unwrap().is_empty());
    assert!(cx.tasks().await.unwrap().is_empty());
    assert!(
        cx.take_jobs(later(9), later(9), 9)
            .await
            .unwrap()
            .is_empty()
    );
    assert_eq!(cx.fire(later(100), 9).await.unwrap(), 0);
    assert!(
        !cx.to_do_ids()
            .await
            .iter()
            .any(|id| id == "changed" || id == "goes on")
    );
    assert!(
        cx.tell(event_for("Other", "a")).await.queued,
        "nobody waits for it"
    );
    let listed = cx.list(lockwork::runtime::store::Filter {
        correlation: Some("changed".to_owned()),
        ..Default::default()
    });
    assert!(listed.await.unwrap().is_empty());
    let committed = cx.commit(everything(last)).await.unwrap();
    assert_eq!(committed.version, last.claim.version + 1);
}

async fn the_state_is_what_was_committed(cx: Cx) {
    cx.made("a").await;
    let mut commit = nothing(&cx.claimed("a").await);
    commit.wait(mark("a:1", "Go"));
    commit.state().variables = values(json!({ "deep": { "list": [1, 2.5, null, "text", false] } }));
    commit.state().output = values(json!({ "so": "far" }));
    let wanted = commit.state.clone();
    let committed = cx.commit(commit).await.unwrap();
    assert_eq!((committed.version, committed.cancel), (1, false));
    assert_eq!(committed.continues, None);
    let record = cx.load(&instance("a")).await.unwrap().unwrap();
    assert_eq!((record.state, record.version, record.epoch), (wanted, 1, 1));
}

async fn the_errand_that_was_done_is_gone(cx: Cx) {
    cx.made("a").await;
    let held = cx.held(errand("run", "a", NOW), later(30)).await;
    cx.change("a", |commit| commit.consumes = Some(held.clone()))
        .await;
    assert!(!cx.done(&held).await.unwrap());
    assert!(cx.to_do().await.is_empty());
}

async fn an_errand_that_stays_is_handed_out_as_if_for_the_first_time(cx: Cx) {
    cx.made("a").await;
    let rest = errand("run", "a", NOW);
    cx.held(rest.clone(), NOW).await;
    let again = cx.take(NOW, later(30), 9).await.unwrap();
    let held = again.into_iter().next().expect("nobody has kept it");
    assert_eq!(held.attempt, 2);
    for _ in 0..2 {
        let committed = cx.change("a", |commit| {
            commit.consumes = Some(held.clone());
            commit.stays = true;
        });
        assert_eq!(committed.await.continues, None);
    }
    assert!(cx.take(later(29), later(60), 9).await.unwrap().is_empty());
    let next = cx.take(later(30), later(60), 9).await.unwrap();
    let next: Vec<_> = next.iter().map(|one| (&one.errand, one.attempt)).collect();
    assert_eq!(next, [(&rest, 2)]);
}

async fn whoever_lost_an_errand_that_stays_commits_nothing_at_all(cx: Cx) {
    cx.waits("a", "Go").await;
    let held = cx.lost(errand("run", "a", NOW)).await;
    let last = cx.claimed("a").await;
    let mut commit = everything(&last);
    commit.consumes = Some(held);
    commit.stays = true;
    assert_eq!(kind(cx.commit(commit).await), ErrorKind::Fenced);
    assert_untouched(&cx, &last).await;
}

async fn whoever_lost_the_errand_commits_nothing_at_all(cx: Cx) {
    cx.waits("a", "Go").await;
    let lost = cx.lost(errand("run", "a", NOW)).await;
    let last = cx.claimed("a").await;
    let mut commit = everything(&last);
    commit.consumes = Some(lost);
    assert_eq!(kind(cx.commit(commit).await), ErrorKind::Fenced);
    assert_untouched(&cx, &last).await;
}

async fn an_errand_that_is_gone_is_held_by_nobody(cx: Cx) {
    cx.waits("a", "Go").await;
    let held = cx.held(errand("run", "a", NOW), later(30)).await;
    assert!(cx.done(&held).await.unwrap());
    let last = cx.claimed("a").await;
    let mut commit = everything(&last);
    commit.consumes = Some(held);
    assert_eq!(kind(cx.commit(commit).await), ErrorKind::Fenced);
    assert_untouched(&cx, &last).await;
}

async fn what_was_over_does_not_run_again_beside_another(cx: Cx) {
    let only = |id| NewInstance {
        activation: Some("one".to_owned()),
        ..new(id)
    };
    cx.create(only("a")).await.unwrap();
    cx.change("a", |commit| commit.end()).await;
    cx.create(only("b")).await.unwrap();
    let mut again = nothing(&cx.claimed("a").await);
    again.state().sub_status = SubStatus::Suspended;
    again.journal.push(entry(0, "again"));
    assert_eq!(kind(cx.commit(again).await), ErrorKind::Conflict);
    assert_eq!(cx.state("a").await.sub_status, SubStatus::Finished);
    assert!(cx.journal(&instance("a"), 0).await.unwrap().is_empty());
    cx.change("b", |commit| commit.end()).await;
    let runs = |commit: &mut Commit| commit.state().sub_status = SubStatus::Suspended;
    cx.change("a", runs).await;
    assert_eq!(
        cx.create(only("c")).await.unwrap(),
        Creation::Refused(instance("a"))
    );
}

async fn what_has_to_be_done_is_added_once(cx: Cx) {
    cx.made("a").await;
    for _ in 0..2 {
        let errands = vec![errand("two", "b", later(2)), errand("one", "b", later(1))];
        cx.change("a", |commit| commit.errands = errands).await;
    }
    assert!(
        cx.take(NOW, later(9), 9).await.unwrap().is_empty(),
        "none is due"
    );
    let to_do = cx.to_do().await;
    assert_eq!(ids(&to_do), ["one", "two"]);
    assert_eq!(to_do[0].errand, errand("one", "b", later(1)));
    assert!(matches!(to_do[0].errand.kind, ErrandKind::Run { .. }));
}

async fn what_has_to_be_done_if_nobody_goes_on_is_held(cx: Cx) {
    cx.made("a").await;
    let goes_on = errand("goes on", "a", NOW);
    let committed = cx
        .change("a", |commit| {
            commit.continues = Some((goes_on.clone(), later(30)))
        })
        .await;
    let held = committed.continues.unwrap();
    assert_eq!((&held.errand, held.attempt), (&goes_on, 1));
    assert!(cx.take(later(29), later(60), 9).await.unwrap().is_empty());
    cx.change("a", |commit| commit.consumes = Some(held)).await;
    assert!(cx.to_do().await.is_empty());
}

async fn the_journal_grows_in_order(cx: Cx) {
    cx.made("a").await;
    cx.made("b").await;
    cx.change("a", |commit| {
        commit.journal = vec![entry(0, "zero"), entry(1, "one")]
    })
    .await;
    cx.change("b", |commit| commit.journal = vec![entry(0, "other")])
        .await;
    cx.change("a", |commit| commit.journal = vec![entry(2, "two")])
        .await;
    let whole = [entry(0, "zero"), entry(1, "one"), entry(2, "two")];
    for from in 0..5 {
        let journal = cx.journal(&instance("a"), from).await.unwrap();
        assert_eq!(
            journal,
            whole[whole.len().min(from as usize)..],
            "from {from}"
        );
    }
    assert!(
        cx.journal(&instance("a"), u64::MAX)
            .await
            .unwrap()
            .is_empty()
    );
    assert_eq!(
        cx.journal(&instance("b"), 0).await.unwrap(),
        [entry(0, "other")]
    );
    assert!(cx.journal(&instance("c"), 0).await.unwrap().is_empty());
}

async fn tasks_are_there_as_long_as_their_bookmarks(cx: Cx) {
    cx.made("a").await;
    cx.change("a", |commit| {
        commit.wait(mark("a:1", "One"));
        commit.wait(mark("a:2", "Two"));
        commit.tasks = vec![task("a:2", "a"), task("a:1", "a")];
    })
    .await;
    let mut listed = cx.tasks().await.unwrap();
    listed.sort_unstable_by(|one, other| one.id.cmp(&other.id));
    assert_eq!(listed, [task("a:1", "a").1, task("a:2", "a").1]);
    cx.change("a", |commit| commit.leave("a:1")).await;
    assert_eq!(cx.tasks().await.unwrap(), [task("a:2", "a").1]);
    cx.change("a", |commit| commit.end()).await;
    assert!(cx.tasks().await.unwrap().is_empty());
}

async fn a_bookmark_that_is_replaced_is_another_one(cx: Cx) {
    cx.waits("a", "Go").await;
    cx.change("a", |commit| {
        commit.leave("a:1");
        commit.wait(mark("a:2", "Go"));
    })
    .await;
    let sent = cx.send(sending_as("s", event("Go"))).await.unwrap();
    assert!(!sent.queued);
    assert_eq!(cx.to_do_ids().await, ["s/a:2"]);
}
