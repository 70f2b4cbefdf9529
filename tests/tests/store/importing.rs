//! Making an instance what is given.

use crate::support::*;
use lockwork::{
    flow::State,
    runtime::store::{Creation, NewInstance},
    workflow::{Bookmark, ErrorKind, SubStatus},
};

pub(crate) fn list() -> Vec<Case> {
    cases![
        what_was_not_there_is_there_now,
        whoever_works_on_it_is_fenced_off,
        its_journal_stays_and_goes_on,
        it_waits_where_it_is_said_to_and_nowhere_else,
        what_waits_for_its_bookmarks_is_given_to_them,
        what_is_done_for_a_bookmark_that_comes_back_is_still_wanted,
        what_is_done_for_a_bookmark_that_does_not_is_not,
        another_one_that_runs_keeps_it_out,
        it_counts_as_the_one_that_runs,
    ]
}

fn waiting(id: &str, marks: Vec<Bookmark>) -> State {
    State {
        sub_status: SubStatus::Suspended,
        bookmarks: marks,
        ..state(id)
    }
}

async fn what_was_not_there_is_there_now(cx: Cx) {
    let given = waiting("a", vec![mark("a:1", "Go")]);
    cx.import(given.clone(), None).await.unwrap();
    let record = cx.load(&instance("a")).await.unwrap().unwrap();
    assert_eq!(
        (&*record.state, record.epoch, record.version),
        (&given, 1, 1)
    );
    assert!(!cx.tell(event("Go")).await.queued);
}

async fn whoever_works_on_it_is_fenced_off(cx: Cx) {
    cx.waits("a", "Go").await;
    let working = cx.claimed("a").await;
    cx.request_cancel(&instance("a")).await.unwrap();
    cx.import(state("a"), None).await.unwrap();
    assert_eq!(kind(cx.commit(nothing(&working)).await), ErrorKind::Fenced);
    let mut guessed = nothing(&working);
    (guessed.claim.epoch, guessed.claim.version) = (3, 2);
    assert_eq!(
        kind(cx.commit(guessed).await),
        ErrorKind::Fenced,
        "the claim is not its own"
    );
    let next = cx.claimed("a").await;
    assert_eq!((next.claim.epoch, next.claim.version), (4, 2));
    assert!(!next.cancel && next.committed_by.is_none());
    cx.commit(nothing(&next)).await.unwrap();
}

async fn its_journal_stays_and_goes_on(cx: Cx) {
    cx.made("a").await;
    cx.change("a", |commit| {
        commit.journal = vec![entry(0, "zero"), entry(1, "one")];
        commit.state().entries = 2;
    })
    .await;
    cx.import(
        State {
            entries: 1,
            ..state("a")
        },
        None,
    )
    .await
    .unwrap();
    assert_eq!(cx.state("a").await.entries, 2);
    cx.import(
        State {
            entries: 7,
            ..state("a")
        },
        None,
    )
    .await
    .unwrap();
    assert_eq!(
        cx.state("a").await.entries,
        7,
        "it has gone further elsewhere"
    );
    cx.change("a", |commit| commit.journal = vec![entry(7, "seven")])
        .await;
    let journal = cx.journal(&instance("a"), 1).await.unwrap();
    assert_eq!(journal, [entry(1, "one"), entry(7, "seven")]);
}

async fn it_waits_where_it_is_said_to_and_nowhere_else(cx: Cx) {
    cx.made("a").await;
    cx.change("a", |commit| {
        commit.wait(mark("a:1", "Old"));
        commit.wait(alarm("a:2", later(5)));
    })
    .await;
    let marks = vec![mark("a:3", "New"), alarm("a:4", later(7))];
    cx.import(waiting("a", marks), None).await.unwrap();
    assert!(cx.tell(event("Old")).await.queued);
    assert!(!cx.tell(event("New")).await.queued);
    let taken = cx.take(NOW, later(1), 9).await.unwrap();
    assert_eq!(taken.len(), 1);
    assert!(cx.done(&taken[0]).await.unwrap());
    assert_eq!(cx.next_due().await.unwrap(), Some(later(7)));
    assert_eq!(cx.fire(later(10), 9).await.unwrap(), 1);
}

async fn what_waits_for_its_bookmarks_is_given_to_them(cx: Cx) {
    cx.send(sending_as("early", event("Go"))).await.unwrap();
    cx.import(waiting("a", vec![mark("a:1", "Go")]), None)
        .await
        .unwrap();
    assert_eq!(cx.to_do_ids().await, ["early/a:1"]);
}

async fn with_work(cx: &Cx) {
    cx.made("a").await;
    cx.change("a", |commit| {
        commit.wait(mark("a:1", "Go"));
        commit.jobs = vec![job("a:1")];
        commit.tasks = vec![task("a:1", "a")];
    })
    .await;
}

async fn what_is_done_for_a_bookmark_that_comes_back_is_still_wanted(cx: Cx) {
    with_work(&cx).await;
    cx.import((*cx.state("a").await).clone(), None)
        .await
        .unwrap();
    assert_eq!(cx.tasks().await.unwrap().len(), 1);
    assert_eq!(cx.take_jobs(NOW, later(9), 9).await.unwrap().len(), 1);
}

async fn what_is_done_for_a_bookmark_that_does_not_is_not(cx: Cx) {
    with_work(&cx).await;
    cx.import(waiting("a", vec![mark("a:9", "Go")]), None)
        .await
        .unwrap();
    assert!(cx.tasks().await.unwrap().is_empty());
    assert!(cx.take_jobs(NOW, later(9), 9).await.unwrap().is_empty());
}

async fn another_one_that_runs_keeps_it_out(cx: Cx) {
    let only = |id| NewInstance {
        activation: Some("one".to_owned()),
        ..new(id)
    };
    cx.create(only("b")).await.unwrap();
    let refused = cx.import(state("a"), Some("one".to_owned())).await;
    assert_eq!(kind(refused), ErrorKind::Conflict);
    assert!(!cx.is_there("a").await);
    cx.import(state("b"), Some("one".to_owned())).await.unwrap();
    assert_eq!(
        cx.create(only("c")).await.unwrap(),
        Creation::Refused(instance("b"))
    );
}

async fn it_counts_as_the_one_that_runs(cx: Cx) {
    let only = |id| NewInstance {
        activation: Some("one".to_owned()),
        ..new(id)
    };
    cx.import(state("a"), Some("one".to_owned())).await.unwrap();
    assert_eq!(
        cx.create(only("b")).await.unwrap(),
        Creation::Refused(instance("a"))
    );
    let over = State {
        sub_status: SubStatus::Finished,
        finished: Some(NOW),
        ..state("a")
    };
    cx.import(over, Some("one".to_owned())).await.unwrap();
    assert_eq!(cx.create(only("b")).await.unwrap(), Creation::New(None));
}
