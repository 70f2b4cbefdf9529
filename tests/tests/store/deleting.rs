//! What goes with an instance that is deleted, and what stays.

use crate::support::*;
use lockwork::{
    runtime::store::{Creation, NewInstance},
    workflow::Time,
};

pub(crate) fn list() -> Vec<Case> {
    cases![
        what_is_not_there_is_not_deleted,
        everything_of_it_goes,
        nothing_of_another_goes,
        its_key_and_its_activation_are_free,
        another_with_its_activation_keeps_it,
        what_was_over_long_ago_is_forgotten_some_at_a_time,
        what_is_not_over_is_not_forgotten,
    ]
}

async fn what_is_not_there_is_not_deleted(cx: Cx) {
    assert!(!cx.delete(&instance("a")).await.unwrap());
    cx.made("a").await;
    assert!(cx.delete(&instance("a")).await.unwrap());
    assert!(!cx.delete(&instance("a")).await.unwrap());
}

/// An instance with a bookmark, a timer, a job, a task, an errand, a journal, and a stimulus that waits for it.
async fn rich(cx: &Cx, id: &str) {
    cx.made(id).await;
    let marks = [format!("{id}:1"), format!("{id}:2"), format!("{id}:3")];
    cx.change(id, |commit| {
        commit.wait(mark(&marks[0], "Go"));
        commit.wait(alarm(&marks[1], later(60)));
        commit.wait(mark(&marks[2], &marks[2]));
        commit.journal = vec![entry(0, "said")];
        commit.errands = vec![errand(&format!("run {id}"), id, NOW)];
        commit.jobs = vec![job(&marks[0])];
        commit.tasks = vec![task(&marks[2], id)];
    })
    .await;
    cx.send(sending_as(&format!("early {id}"), event_for("Later", id)))
        .await
        .unwrap();
    cx.tell(event(&marks[2])).await;
}

async fn everything_of_it_goes(cx: Cx) {
    rich(&cx, "a").await;
    assert!(cx.delete(&instance("a")).await.unwrap());
    assert!(!cx.is_there("a").await);
    assert!(cx.journal(&instance("a"), 0).await.unwrap().is_empty());
    assert!(cx.tasks().await.unwrap().is_empty());
    assert!(
        cx.take_jobs(later(9), later(9), 9)
            .await
            .unwrap()
            .is_empty()
    );
    assert!(cx.waiting_ids().await.is_empty());
    assert_eq!(cx.next_due().await.unwrap(), None);
    assert_eq!(cx.fire(later(1000), 9).await.unwrap(), 0);
    assert!(cx.to_do().await.is_empty());
    assert!(cx.tell(event("Go")).await.queued);
    cx.made("a").await;
    assert_eq!(cx.claimed("a").await.claim.epoch, 1);
    assert!(
        cx.journal(&instance("a"), 0).await.unwrap().is_empty(),
        "its life was another"
    );
}

async fn nothing_of_another_goes(cx: Cx) {
    rich(&cx, "a").await;
    rich(&cx, "b").await;
    let wanted = cx.state("b").await;
    assert!(cx.delete(&instance("a")).await.unwrap());
    assert_eq!(cx.state("b").await, wanted);
    assert_eq!(cx.journal(&instance("b"), 0).await.unwrap().len(), 1);
    assert_eq!(cx.tasks().await.unwrap().len(), 1);
    assert_eq!(cx.take_jobs(later(9), later(9), 9).await.unwrap().len(), 1);
    assert_eq!(cx.waiting_ids().await, ["early b"]);
    assert_eq!(cx.fire(later(1000), 9).await.unwrap(), 1);
    assert_eq!(cx.to_do().await.len(), 3);
    assert!(!cx.tell(event("Go")).await.queued);
}

async fn its_key_and_its_activation_are_free(cx: Cx) {
    let made = |id| NewInstance {
        key: Some("k".to_owned()),
        activation: Some("one".to_owned()),
        ..new(id)
    };
    cx.create(made("a")).await.unwrap();
    cx.delete(&instance("a")).await.unwrap();
    assert_eq!(cx.create(made("b")).await.unwrap(), Creation::New(None));
}

async fn another_with_its_activation_keeps_it(cx: Cx) {
    let only = |id| NewInstance {
        activation: Some("one".to_owned()),
        ..new(id)
    };
    cx.create(only("a")).await.unwrap();
    cx.change("a", |commit| commit.end()).await;
    cx.create(only("b")).await.unwrap();
    assert!(cx.delete(&instance("a")).await.unwrap());
    assert_eq!(
        cx.create(only("c")).await.unwrap(),
        Creation::Refused(instance("b"))
    );
}

async fn ended(cx: &Cx, id: &str, at: Time) {
    cx.made(id).await;
    cx.change(id, |commit| {
        commit.now = at;
        commit.journal = vec![entry(0, "said")];
        commit.end();
    })
    .await;
}

async fn what_was_over_long_ago_is_forgotten_some_at_a_time(cx: Cx) {
    for (id, at) in [("c", 3), ("a", 1), ("d", 4), ("b", 2)] {
        ended(&cx, id, later(at)).await;
    }
    assert_eq!(cx.forget(later(4), 0).await.unwrap(), 0);
    assert_eq!(cx.forget(later(4), 2).await.unwrap(), 2);
    for (id, there) in [("a", false), ("b", false), ("c", true), ("d", true)] {
        assert_eq!(cx.is_there(id).await, there, "{id}");
    }
    assert!(cx.journal(&instance("a"), 0).await.unwrap().is_empty());
    assert_eq!(cx.forget(later(4), 2).await.unwrap(), 1);
    assert_eq!(cx.forget(later(4), usize::MAX).await.unwrap(), 0);
    assert!(cx.is_there("d").await, "it was over then, and not before");
}

async fn what_is_not_over_is_not_forgotten(cx: Cx) {
    cx.made("a").await;
    cx.waits("b", "Go").await;
    assert_eq!(cx.forget(Time::from_millis(i64::MAX), 9).await.unwrap(), 0);
    assert!(cx.is_there("a").await && cx.is_there("b").await);
}
