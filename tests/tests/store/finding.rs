//! Looking at instances.

use crate::support::*;
use lockwork::{
    runtime::store::{Filter, NewInstance, NewVersion},
    workflow::{Status, SubStatus},
};

pub(crate) fn list() -> Vec<Case> {
    cases![
        what_is_not_there_is_not_found,
        the_newest_come_first_whatever_they_are_called,
        no_more_are_listed_than_somebody_wants,
        instances_are_listed_by_how_far_they_are,
        instances_are_listed_by_whether_they_are_over,
        instances_are_listed_by_their_correlation,
        instances_are_listed_by_what_they_are_made_of,
        what_is_asked_for_together_fits_together,
        a_list_has_what_was_committed_last,
    ]
}

async fn listed(cx: &Cx, filter: Filter) -> Vec<String> {
    let records = cx.list(filter).await.unwrap().into_iter();
    records
        .map(|record| record.state.instance.to_string())
        .collect()
}

async fn what_is_not_there_is_not_found(cx: Cx) {
    assert!(cx.load(&instance("a")).await.unwrap().is_none());
    assert!(listed(&cx, Filter::default()).await.is_empty());
    assert!(cx.tasks().await.unwrap().is_empty());
    assert!(cx.waiting().await.unwrap().is_empty());
    assert!(cx.dead_letters().await.unwrap().is_empty());
    assert_eq!(cx.next_due().await.unwrap(), None);
}

async fn the_newest_come_first_whatever_they_are_called(cx: Cx) {
    for id in ["m", "z", "a", "é", "B"] {
        cx.made(id).await;
    }
    cx.change("z", |commit| commit.end()).await;
    assert_eq!(
        listed(&cx, Filter::default()).await,
        ["B", "é", "a", "z", "m"]
    );
}

async fn no_more_are_listed_than_somebody_wants(cx: Cx) {
    for id in ["a", "b", "c"] {
        cx.made(id).await;
    }
    for (limit, wanted) in [(0, 0), (1, 1), (2, 2), (9, 3), (usize::MAX, 3)] {
        let filter = Filter {
            limit: Some(limit),
            ..Filter::default()
        };
        let found = listed(&cx, filter).await;
        assert_eq!(found, ["c", "b", "a"][..wanted], "at most {limit}");
    }
}

async fn instances_are_listed_by_how_far_they_are(cx: Cx) {
    for (at, status) in SubStatus::ALL.into_iter().enumerate() {
        let id = format!("i{at}");
        cx.made(&id).await;
        cx.change(&id, |commit| commit.state().sub_status = status)
            .await;
    }
    for (at, status) in SubStatus::ALL.into_iter().enumerate() {
        let filter = Filter {
            sub_status: Some(status),
            ..Filter::default()
        };
        assert_eq!(listed(&cx, filter).await, [format!("i{at}")], "{status:?}");
    }
}

async fn instances_are_listed_by_whether_they_are_over(cx: Cx) {
    for (at, status) in SubStatus::ALL.into_iter().enumerate() {
        let id = format!("i{at}");
        cx.made(&id).await;
        cx.change(&id, |commit| commit.state().sub_status = status)
            .await;
    }
    for over in [true, false] {
        let filter = Filter {
            over: Some(over),
            ..Filter::default()
        };
        let found = cx.list(filter).await.unwrap().into_iter();
        let found: Vec<_> = found.map(|record| record.state.sub_status).collect();
        let all = SubStatus::ALL.into_iter().rev();
        let wanted = all.filter(|one| (one.status() == Status::Finished) == over);
        assert_eq!(found, wanted.collect::<Vec<_>>());
    }
}

async fn instances_are_listed_by_their_correlation(cx: Cx) {
    for (id, correlation) in [
        ("a", Some("7")),
        ("b", None),
        ("c", Some("7")),
        ("d", Some("07")),
    ] {
        let mut made = new(id);
        made.state.correlation = correlation.map(str::to_owned);
        cx.create(made).await.unwrap();
    }
    let by = |correlation: &str| Filter {
        correlation: Some(correlation.to_owned()),
        ..Filter::default()
    };
    assert_eq!(listed(&cx, by("7")).await, ["c", "a"]);
    assert_eq!(listed(&cx, by("07")).await, ["d"]);
    assert!(listed(&cx, by("%")).await.is_empty());
    cx.change("b", |commit| {
        commit.state().correlation = Some("7".to_owned())
    })
    .await;
    cx.change("c", |commit| commit.state().correlation = None)
        .await;
    assert_eq!(listed(&cx, by("7")).await, ["b", "a"]);
}

/// Instances of versions that were put.
async fn of_versions(cx: &Cx) {
    for (id, text) in [("w", "one"), ("w", "two"), ("v", "one")] {
        let new = NewVersion {
            definition: definition(id, text),
            publish: true,
            triggers: Vec::new(),
            now: NOW,
        };
        cx.put(new).await.unwrap();
    }
    for (id, of) in [("a", "w:1"), ("b", "v:1"), ("c", "w:2")] {
        let mut made = new(id);
        made.state.version = version(of);
        cx.create(made).await.unwrap();
    }
}

async fn instances_are_listed_by_what_they_are_made_of(cx: Cx) {
    of_versions(&cx).await;
    let by = |id: &str| Filter {
        definition: Some(named(id)),
        ..Filter::default()
    };
    assert_eq!(listed(&cx, by("w")).await, ["c", "a"]);
    assert_eq!(listed(&cx, by("v")).await, ["b"]);
    assert!(listed(&cx, by("u")).await.is_empty());
}

async fn what_is_asked_for_together_fits_together(cx: Cx) {
    of_versions(&cx).await;
    let moved = NewInstance {
        activation: None,
        ..new("d")
    };
    cx.create(moved).await.unwrap();
    cx.change("a", |commit| {
        commit.state().correlation = Some("7".to_owned());
        commit.end();
    })
    .await;
    let filter = |sub_status| Filter {
        definition: Some(named("w")),
        sub_status: Some(sub_status),
        correlation: Some("7".to_owned()),
        limit: Some(5),
        ..Filter::default()
    };
    assert_eq!(listed(&cx, filter(SubStatus::Finished)).await, ["a"]);
    assert!(listed(&cx, filter(SubStatus::Pending)).await.is_empty());
}

async fn a_list_has_what_was_committed_last(cx: Cx) {
    cx.waits("a", "Go").await;
    cx.claimed("a").await;
    let record = cx.list(Filter::default()).await.unwrap().pop().unwrap();
    assert_eq!(record.state, cx.state("a").await);
    assert_eq!((record.version, record.epoch), (1, 2));
}
