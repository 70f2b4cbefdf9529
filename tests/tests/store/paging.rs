//! Going through all instances page by page.

use crate::support::*;
use lockwork::{
    flow::State,
    runtime::store::{Filter, Position},
    workflow::SubStatus,
};

pub(crate) fn list() -> Vec<Case> {
    cases![
        pages_add_up_to_the_list,
        one_that_is_created_between_pages_moves_no_other,
        one_that_is_removed_between_pages_moves_no_other,
        a_page_begins_where_nobody_stands_any_more,
        one_that_changes_between_pages_stays_where_it_is,
        each_page_has_what_was_asked_for,
        an_instance_stands_where_it_is_listed,
        an_imported_instance_comes_anew,
    ]
}

/// The pages of a list, one after the other.
struct Pages<'c> {
    cx: &'c Cx,
    filter: Filter,
}

impl<'c> Pages<'c> {
    /// Of so many each.
    fn of(cx: &'c Cx, limit: usize) -> Self {
        let filter = Filter {
            limit: Some(limit),
            ..Filter::default()
        };
        Self::by(cx, filter)
    }

    const fn by(cx: &'c Cx, filter: Filter) -> Self {
        Self { cx, filter }
    }

    async fn next(&mut self) -> Vec<String> {
        let page = self.cx.list(self.filter.clone()).await.unwrap();
        if let Some(last) = page.last() {
            self.filter.after = Some(last.position);
        }
        let ids = page.iter().map(|record| record.state.instance.to_string());
        ids.collect()
    }

    async fn rest(&mut self) -> Vec<String> {
        let mut all = Vec::new();
        loop {
            let page = self.next().await;
            if page.is_empty() {
                return all;
            }
            all.extend(page);
            assert!(all.len() < 99, "pages come to an end");
        }
    }
}

/// Instances `i1`, `i2` and so on, all of the same moment.
async fn made(cx: &Cx, numbers: std::ops::RangeInclusive<u32>) {
    for number in numbers {
        cx.made(&format!("i{number}")).await;
    }
}

async fn gone(cx: &Cx, id: &str) {
    assert!(cx.delete(&instance(id)).await.unwrap());
}

async fn pages_add_up_to_the_list(cx: Cx) {
    assert!(Pages::of(&cx, 2).rest().await.is_empty());
    made(&cx, 1..=12).await;
    let all = Pages::of(&cx, 99).next().await;
    assert_eq!((all.len(), &*all[0], &*all[11]), (12, "i12", "i1"));
    for limit in [1, 2, 5, 11, 12, 13] {
        assert_eq!(Pages::of(&cx, limit).rest().await, all, "{limit} each");
    }
}

async fn one_that_is_created_between_pages_moves_no_other(cx: Cx) {
    made(&cx, 1..=5).await;
    let mut pages = Pages::of(&cx, 2);
    assert_eq!(pages.next().await, ["i5", "i4"]);
    made(&cx, 6..=8).await;
    assert_eq!(pages.next().await, ["i3", "i2"]);
    cx.made("a").await;
    assert_eq!(pages.rest().await, ["i1"]);
}

async fn one_that_is_removed_between_pages_moves_no_other(cx: Cx) {
    made(&cx, 1..=9).await;
    let mut pages = Pages::of(&cx, 2);
    assert_eq!(pages.next().await, ["i9", "i8"]);
    for id in ["i9", "i6"] {
        gone(&cx, id).await;
    }
    assert_eq!(pages.next().await, ["i7", "i5"]);
    for id in ["i8", "i7", "i3"] {
        gone(&cx, id).await;
    }
    assert_eq!(pages.rest().await, ["i4", "i2", "i1"]);
}

async fn a_page_begins_where_nobody_stands_any_more(cx: Cx) {
    made(&cx, 1..=5).await;
    let mut pages = Pages::of(&cx, 2);
    assert_eq!(pages.next().await, ["i5", "i4"]);
    for id in ["i4", "i3"] {
        gone(&cx, id).await;
    }
    let cx = cx.other().await;
    pages.cx = &cx;
    assert_eq!(pages.rest().await, ["i2", "i1"]);
}

async fn one_that_changes_between_pages_stays_where_it_is(cx: Cx) {
    made(&cx, 1..=4).await;
    let mut pages = Pages::of(&cx, 2);
    assert_eq!(pages.next().await, ["i4", "i3"]);
    for id in ["i4", "i2"] {
        cx.change(id, |commit| commit.wait(mark(&format!("{id}:1"), "Go")))
            .await;
        cx.change(id, |commit| commit.end()).await;
    }
    assert_eq!(pages.rest().await, ["i2", "i1"]);
}

async fn each_page_has_what_was_asked_for(cx: Cx) {
    crate::firing::publish(&cx, "w", "hello", Vec::new()).await;
    crate::firing::publish(&cx, "v", "hello", Vec::new()).await;
    for number in 1..=24 {
        let mut made = new(&format!("i{number}"));
        made.state.version = version(["w:1", "v:1"][number % 2]);
        made.state.correlation = Some(format!("{}", number % 3));
        cx.create(made).await.unwrap();
        if number % 4 == 0 {
            cx.change(&format!("i{number}"), |commit| commit.end())
                .await;
        }
    }
    let filters = [
        Filter {
            definition: Some(named("w")),
            ..Filter::default()
        },
        Filter {
            sub_status: Some(SubStatus::Finished),
            ..Filter::default()
        },
        Filter {
            over: Some(false),
            ..Filter::default()
        },
        Filter {
            correlation: Some("1".to_owned()),
            ..Filter::default()
        },
        Filter {
            definition: Some(named("w")),
            correlation: Some("1".to_owned()),
            over: Some(true),
            ..Filter::default()
        },
    ];
    for (filter, wanted) in filters.into_iter().zip([12, 6, 18, 8, 2]) {
        let whole = Pages::by(&cx, filter.clone()).next().await;
        assert_eq!(whole.len(), wanted, "{filter:?}");
        for limit in [1, 2, 5] {
            let pages = Filter {
                limit: Some(limit),
                ..filter.clone()
            };
            let pages = Pages::by(&cx, pages).rest().await;
            assert_eq!(pages, whole, "{limit} each, {filter:?}");
        }
    }
}

async fn an_instance_stands_where_it_is_listed(cx: Cx) {
    made(&cx, 1..=3).await;
    let record = cx.load(&instance("i2")).await.unwrap().unwrap();
    let mut pages = Pages::of(&cx, 9);
    pages.filter.after = Some(record.position);
    assert_eq!(pages.next().await, ["i1"]);
    let text = serde_json::to_string(&record.position).unwrap();
    let read: Position = serde_json::from_str(&text).unwrap();
    assert_eq!(read, Position::new(record.position.number()));
    for (number, wanted) in [(0, 0), (u64::MAX, 3)] {
        pages.filter.after = Some(Position::new(number));
        assert_eq!(pages.next().await.len(), wanted, "after {number}");
    }
}

async fn an_imported_instance_comes_anew(cx: Cx) {
    made(&cx, 1..=4).await;
    let mut pages = Pages::of(&cx, 2);
    assert_eq!(pages.next().await, ["i4", "i3"]);
    for id in ["i4", "i2"] {
        let state = State::clone(&*cx.state(id).await);
        cx.import(state, None).await.unwrap();
    }
    assert_eq!(pages.rest().await, ["i1"]);
    assert_eq!(Pages::of(&cx, 9).next().await, ["i2", "i4", "i3", "i1"]);
}
