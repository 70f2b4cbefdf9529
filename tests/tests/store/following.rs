//! What follows from a commit: bookmarks meet the stimuli that wait for them.

use crate::support::*;
use lockwork::{runtime::store::ErrandKind, workflow::SubStatus};
use serde_json::json;

pub(crate) fn list() -> Vec<Case> {
    cases![
        a_new_bookmark_gets_the_oldest_stimulus_that_waits_for_it,
        two_new_bookmarks_get_one_each,
        a_new_bookmark_does_not_get_what_is_for_another,
        an_instance_with_another_correlation_gets_what_waits_for_that,
        whoever_waits_again_gets_the_next_one,
        a_bookmark_that_was_removed_is_found_by_nothing,
        what_waits_for_an_instance_alone_is_forgotten_when_that_is_over,
        an_instance_that_is_over_waits_for_nothing,
    ]
}

async fn a_new_bookmark_gets_the_oldest_stimulus_that_waits_for_it(cx: Cx) {
    for id in ["z", "y", "x"] {
        let stimulus = event("Go").input(values(json!({ "from": id })));
        assert!(cx.send(sending_as(id, stimulus)).await.unwrap().queued);
    }
    cx.waits("a", "Go").await;
    assert_eq!(cx.waiting_ids().await, ["y", "x"]);
    let to_do = cx.to_do().await;
    assert_eq!(ids(&to_do), ["z/a:1"]);
    let ErrandKind::Deliver {
        instance: to,
        bookmark: at,
        input,
        stimulus,
    } = &to_do[0].errand.kind
    else {
        panic!("it is delivered");
    };
    assert_eq!((to, at), (&instance("a"), &bookmark("a:1")));
    assert_eq!(input, &values(json!({ "from": "z" })));
    assert_eq!(stimulus.as_ref().unwrap().hash, hash("Go"));
}

async fn two_new_bookmarks_get_one_each(cx: Cx) {
    for id in ["one", "two", "three"] {
        cx.send(sending_as(id, event("Go"))).await.unwrap();
    }
    cx.made("a").await;
    cx.change("a", |commit| {
        commit.wait(mark("a:1", "Go"));
        commit.wait(mark("a:2", "Go"));
    })
    .await;
    assert_eq!(cx.to_do_ids().await, ["one/a:1", "two/a:2"]);
    assert_eq!(cx.waiting_ids().await, ["three"]);
}

async fn a_new_bookmark_does_not_get_what_is_for_another(cx: Cx) {
    cx.send(sending_as("other hash", event("Stop")))
        .await
        .unwrap();
    cx.send(sending_as("other instance", event_for("Go", "b")))
        .await
        .unwrap();
    cx.send(sending_as("other correlation", event_about("Go", "b")))
        .await
        .unwrap();
    let mut elsewhere = event("Go");
    elsewhere.to.bookmark = Some(bookmark("b:1"));
    cx.send(sending_as("other bookmark", elsewhere))
        .await
        .unwrap();
    let mut elsewhere = event("Go");
    elsewhere.to.execution = Some(lockwork::workflow::ExecutionId::numbered(2));
    cx.send(sending_as("other execution", elsewhere))
        .await
        .unwrap();
    cx.send(sending_as("fits", event_for("Go", "a")))
        .await
        .unwrap();
    cx.waits("a", "Go").await;
    assert_eq!(cx.to_do_ids().await, ["fits/a:1"]);
    assert_eq!(cx.waiting_ids().await.len(), 5);
}

async fn an_instance_with_another_correlation_gets_what_waits_for_that(cx: Cx) {
    cx.waits("a", "Go").await;
    cx.send(sending_as("seven", event_about("Go", "7")))
        .await
        .unwrap();
    cx.send(sending_as("eight", event_about("Go", "8")))
        .await
        .unwrap();
    assert_eq!(cx.waiting_ids().await, ["seven", "eight"]);
    cx.change("a", |commit| {
        commit.state().correlation = Some("8".to_owned())
    })
    .await;
    assert_eq!(cx.to_do_ids().await, ["eight/a:1"]);
    assert_eq!(cx.waiting_ids().await, ["seven"]);
}

async fn whoever_waits_again_gets_the_next_one(cx: Cx) {
    for id in ["one", "two"] {
        cx.send(sending_as(id, event("Go"))).await.unwrap();
    }
    cx.waits("a", "Go").await;
    for (round, id) in [(1, "one/a:1"), (2, "two/a:2")] {
        let held = cx.to_do().await.pop().unwrap();
        assert_eq!(held.errand.id, id);
        cx.change("a", |commit| {
            commit.consumes = Some(held);
            commit.leave(&format!("a:{round}"));
            commit.wait(mark(&format!("a:{}", round + 1), "Go"));
        })
        .await;
    }
    assert!(cx.to_do().await.is_empty());
    assert!(cx.waiting_ids().await.is_empty());
}

async fn a_bookmark_that_was_removed_is_found_by_nothing(cx: Cx) {
    cx.made("a").await;
    cx.change("a", |commit| commit.wait(alarm("a:1", later(5))))
        .await;
    assert_eq!(cx.next_due().await.unwrap(), Some(later(5)));
    cx.change("a", |commit| commit.leave("a:1")).await;
    assert_eq!(cx.next_due().await.unwrap(), None);
    assert_eq!(cx.fire(later(10), 9).await.unwrap(), 0);
    assert!(cx.tell(event("a:1")).await.queued);
}

async fn what_waits_for_an_instance_alone_is_forgotten_when_that_is_over(cx: Cx) {
    cx.made("a").await;
    cx.send(sending_as("for a", event_for("Go", "a")))
        .await
        .unwrap();
    cx.send(sending_as("for b", event_for("Go", "b")))
        .await
        .unwrap();
    cx.send(sending_as("for all", event("Go"))).await.unwrap();
    cx.change("a", |commit| commit.end()).await;
    assert_eq!(cx.waiting_ids().await, ["for b", "for all"]);
}

async fn an_instance_that_is_over_waits_for_nothing(cx: Cx) {
    cx.made("a").await;
    cx.change("a", |commit| {
        commit.wait(mark("a:1", "Go"));
        commit.wait(alarm("a:2", later(5)));
    })
    .await;
    // What failed keeps its bookmarks, so that it can be retried.
    cx.change("a", |commit| commit.state().sub_status = SubStatus::Faulted)
        .await;
    assert_eq!(cx.state("a").await.bookmarks.len(), 2);
    assert!(cx.tell(event("Go")).await.queued);
    let for_it = cx.tell(event_for("Go", "a")).await;
    assert!(
        !for_it.queued && for_it.errands.is_empty(),
        "it will never wait again"
    );
}
