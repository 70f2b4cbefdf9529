//! Definitions, their versions, and what starts instances of them.

use crate::{
    firing::{publish, trigger},
    support::*,
};
use lockwork::{
    flow::Schedule,
    runtime::store::{NewVersion, TriggerRow, VersionRow},
    workflow::{DefinitionHandle, VersionSelect},
};
use std::time::Duration;

pub(crate) fn list() -> Vec<Case> {
    cases![
        the_first_version_is_the_first,
        the_same_as_the_last_one_is_no_new_version,
        what_was_there_before_the_last_one_is_a_new_version,
        one_version_counts_at_most,
        the_version_that_is_meant_is_found,
        all_versions_are_listed_in_order,
        what_is_retracted_does_not_count_any_more,
        what_starts_instances_goes_with_the_version_that_counts,
        what_was_there_keeps_its_next_time,
        what_does_not_count_starts_nothing,
    ]
}

async fn put(cx: &Cx, id: &str, text: &str, publish: bool) -> VersionRow {
    let new = NewVersion {
        definition: definition(id, text),
        publish,
        triggers: Vec::new(),
        now: later(5),
    };
    cx.put(new).await.unwrap()
}

async fn found(cx: &Cx, id: &str, select: VersionSelect) -> Option<u32> {
    let handle = DefinitionHandle::Of {
        definition: named(id),
        select,
    };
    cx.resolve(&handle).await.unwrap().map(|row| row.number)
}

async fn the_first_version_is_the_first(cx: Cx) {
    let row = put(&cx, "w", "one", false).await;
    assert_eq!(
        (row.id.as_str(), row.number, row.published),
        ("w:1", 1, false)
    );
    assert_eq!(
        (&*row.definition, row.created),
        (&definition("w", "one"), later(5))
    );
    let again = cx
        .resolve(&DefinitionHandle::Version(version("w:1")))
        .await
        .unwrap();
    assert_eq!(again, Some(row));
}

async fn the_same_as_the_last_one_is_no_new_version(cx: Cx) {
    let first = put(&cx, "w", "one", false).await;
    assert_eq!(put(&cx, "w", "one", false).await, first);
    let published = put(&cx, "w", "one", true).await;
    assert_eq!((published.number, published.published), (1, true));
    assert_eq!(
        put(&cx, "w", "one", false).await,
        published,
        "it still counts"
    );
    assert_eq!(cx.versions(None).await.unwrap().len(), 1);
}

async fn what_was_there_before_the_last_one_is_a_new_version(cx: Cx) {
    for (text, number) in [("one", 1), ("two", 2), ("one", 3)] {
        let row = put(&cx, "w", text, false).await;
        assert_eq!(
            (row.number, row.id.to_string()),
            (number, format!("w:{number}"))
        );
    }
}

async fn one_version_counts_at_most(cx: Cx) {
    put(&cx, "w", "one", true).await;
    put(&cx, "w", "two", false).await;
    let counts = async || {
        let rows = cx.versions(Some(&named("w"))).await.unwrap();
        rows.into_iter()
            .map(|row| row.published)
            .collect::<Vec<_>>()
    };
    assert_eq!(counts().await, [true, false]);
    put(&cx, "w", "two", true).await;
    assert_eq!(counts().await, [false, true]);
    put(&cx, "w", "three", true).await;
    assert_eq!(counts().await, [false, false, true]);
}

async fn the_version_that_is_meant_is_found(cx: Cx) {
    use VersionSelect::*;
    put(&cx, "w", "one", false).await;
    for (select, wanted) in [
        (Published, None),
        (Latest, Some(1)),
        (Draft, Some(1)),
        (PublishedOrLatest, Some(1)),
    ] {
        assert_eq!(
            found(&cx, "w", select).await,
            wanted,
            "{select:?} of a draft"
        );
    }
    put(&cx, "w", "one", true).await;
    for (select, wanted) in [
        (Published, Some(1)),
        (Latest, Some(1)),
        (Draft, None),
        (PublishedOrLatest, Some(1)),
    ] {
        assert_eq!(
            found(&cx, "w", select).await,
            wanted,
            "{select:?} of one that counts"
        );
    }
    put(&cx, "w", "two", false).await;
    for (select, wanted) in [
        (Published, Some(1)),
        (Latest, Some(2)),
        (Draft, Some(2)),
        (PublishedOrLatest, Some(1)),
    ] {
        assert_eq!(found(&cx, "w", select).await, wanted, "{select:?} of both");
    }
    for (number, wanted) in [
        (0, None),
        (1, Some(1)),
        (2, Some(2)),
        (3, None),
        (u32::MAX, None),
    ] {
        assert_eq!(found(&cx, "w", Number(number)).await, wanted);
    }
    assert_eq!(found(&cx, "v", Latest).await, None);
    let missing = cx.resolve(&DefinitionHandle::Version(version("w:9"))).await;
    assert_eq!(missing.unwrap(), None);
}

async fn all_versions_are_listed_in_order(cx: Cx) {
    for at in 1..=11 {
        put(&cx, "w", &format!("text {at}"), false).await;
    }
    put(&cx, "v", "one", false).await;
    let numbers =
        |rows: Vec<VersionRow>| rows.into_iter().map(|row| row.number).collect::<Vec<_>>();
    let of = cx.versions(Some(&named("w"))).await.unwrap();
    assert_eq!(numbers(of), (1..=11).collect::<Vec<_>>());
    assert_eq!(cx.versions(None).await.unwrap().len(), 12);
    assert!(cx.versions(Some(&named("u"))).await.unwrap().is_empty());
}

async fn what_is_retracted_does_not_count_any_more(cx: Cx) {
    assert!(!cx.retract(&named("w")).await.unwrap());
    put(&cx, "w", "one", false).await;
    assert!(!cx.retract(&named("w")).await.unwrap(), "it was a draft");
    publish(&cx, "w", "one", vec![tick(10)]).await;
    assert!(cx.retract(&named("w")).await.unwrap());
    assert!(!cx.retract(&named("w")).await.unwrap());
    assert_eq!(found(&cx, "w", VersionSelect::Published).await, None);
    assert_eq!(found(&cx, "w", VersionSelect::Latest).await, Some(1));
    assert!(cx.triggers(&named("w")).await.unwrap().is_empty());
    assert_eq!(cx.next_due().await.unwrap(), None);
}

fn tick(seconds: u64) -> TriggerRow {
    let every = Schedule::Every(Duration::from_secs(seconds).into());
    trigger(every, later(seconds.try_into().unwrap()))
}

async fn what_starts_instances_goes_with_the_version_that_counts(cx: Cx) {
    publish(&cx, "w", "one", vec![tick(10), tick(20)]).await;
    assert_eq!(
        cx.triggers(&named("w")).await.unwrap(),
        [tick(10), tick(20)]
    );
    put(&cx, "w", "two", false).await;
    assert_eq!(
        cx.triggers(&named("w")).await.unwrap().len(),
        2,
        "a draft changes nothing"
    );
    publish(&cx, "w", "three", vec![tick(30)]).await;
    assert_eq!(cx.triggers(&named("w")).await.unwrap(), [tick(30)]);
    assert!(cx.triggers(&named("v")).await.unwrap().is_empty());
}

async fn what_was_there_keeps_its_next_time(cx: Cx) {
    publish(&cx, "w", "one", vec![tick(10), tick(20)]).await;
    assert_eq!(cx.fire(later(10), 9).await.unwrap(), 1);
    let late = |row: TriggerRow| TriggerRow {
        next: Some(later(999)),
        ..row
    };
    let counted = cx
        .index(&version("w:1"), vec![late(tick(10)), late(tick(30))])
        .await
        .unwrap();
    assert_eq!(counted, 2, "one went and one came");
    let next: Vec<_> = cx
        .triggers(&named("w"))
        .await
        .unwrap()
        .into_iter()
        .map(|row| row.next)
        .collect();
    assert_eq!(next, [Some(later(20)), Some(later(999))]);
    assert_eq!(
        cx.index(&version("w:1"), vec![tick(10), tick(30)])
            .await
            .unwrap(),
        0
    );
    publish(&cx, "w", "two", vec![late(tick(10))]).await;
    assert_eq!(
        cx.triggers(&named("w")).await.unwrap()[0].next,
        Some(later(20))
    );
}

async fn what_does_not_count_starts_nothing(cx: Cx) {
    put(&cx, "w", "one", false).await;
    for id in ["w:1", "w:2"] {
        assert_eq!(cx.index(&version(id), vec![tick(10)]).await.unwrap(), 0);
    }
    assert!(cx.triggers(&named("w")).await.unwrap().is_empty());
    assert_eq!(cx.fire(later(100), 9).await.unwrap(), 0);
}
