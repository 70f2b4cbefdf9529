//! What happens by itself next.

use crate::{
    firing::{publish, scheduled, trigger},
    support::*,
};
use lockwork::{
    flow::Schedule,
    runtime::store::{Timer, TimerKind, TriggerRow},
    workflow::Time,
};
use serde_json::json;

pub(crate) fn list() -> Vec<Case> {
    cases![
        whoever_comes_soonest_comes_first,
        no_more_timers_are_told_than_somebody_wants,
        those_of_one_moment_have_an_order,
        a_timer_that_was_fired_is_gone,
        a_schedule_that_was_fired_comes_again,
        a_timer_goes_with_what_it_is_for,
        timers_are_written_as_they_are_read,
    ]
}

fn resume(id: &str, due: Time) -> Timer {
    let (of, _) = id.split_once(':').unwrap();
    let kind = TimerKind::Resume {
        bookmark: bookmark(id),
        instance: instance(of),
    };
    Timer { due, kind }
}

fn start(id: &str, due: Time) -> Timer {
    let kind = TimerKind::Start {
        definition: named(id),
        node: node("root/tick"),
    };
    Timer { due, kind }
}

/// An instance that waits for some moments and for an event.
async fn waits(cx: &Cx, id: &str, moments: &[i64]) {
    cx.waits(id, "Go").await;
    cx.change(id, |commit| {
        for (at, moment) in moments.iter().enumerate() {
            commit.wait(alarm(&format!("{id}:{}", at + 2), later(*moment)));
        }
    })
    .await;
}

/// Three instances and two schedules, which come by turns.
async fn several(cx: &Cx) -> [Timer; 6] {
    waits(cx, "a", &[50, 10]).await;
    waits(cx, "b", &[30]).await;
    scheduled(cx, "w", 20).await;
    scheduled(cx, "v", 60).await;
    waits(cx, "c", &[40]).await;
    [
        resume("a:3", later(10)),
        start("w", later(20)),
        resume("b:2", later(30)),
        resume("c:2", later(40)),
        resume("a:2", later(50)),
        start("v", later(60)),
    ]
}

async fn whoever_comes_soonest_comes_first(cx: Cx) {
    assert!(cx.timers(9).await.unwrap().is_empty());
    let all = several(&cx).await;
    assert_eq!(cx.timers(usize::MAX).await.unwrap(), all);
    assert_eq!(cx.other().await.timers(6).await.unwrap(), all);
    assert_eq!(cx.next_due().await.unwrap(), Some(all[0].due));
}

async fn no_more_timers_are_told_than_somebody_wants(cx: Cx) {
    let all = several(&cx).await;
    for limit in 0..=6 {
        let timers = cx.timers(limit).await.unwrap();
        assert_eq!(timers, all[..limit], "at most {limit}");
    }
}

async fn those_of_one_moment_have_an_order(cx: Cx) {
    scheduled(&cx, "w", 10).await;
    scheduled(&cx, "B", 10).await;
    waits(&cx, "m", &[10, 10]).await;
    waits(&cx, "a", &[10]).await;
    waits(&cx, "é", &[10]).await;
    let all = [
        resume("a:2", later(10)),
        resume("m:2", later(10)),
        resume("m:3", later(10)),
        resume("é:2", later(10)),
        start("B", later(10)),
        start("w", later(10)),
    ];
    for limit in 0..=6 {
        let timers = cx.timers(limit).await.unwrap();
        assert_eq!(timers, all[..limit], "at most {limit}");
    }
}

async fn a_timer_that_was_fired_is_gone(cx: Cx) {
    waits(&cx, "a", &[5, 7]).await;
    assert_eq!(cx.fire(later(4), 9).await.unwrap(), 0);
    assert_eq!(cx.timers(1).await.unwrap(), [resume("a:2", later(5))]);
    assert_eq!(cx.fire(later(6), 9).await.unwrap(), 1);
    assert_eq!(cx.timers(9).await.unwrap(), [resume("a:3", later(7))]);
    assert_eq!(cx.fire(later(9), 9).await.unwrap(), 1);
    assert!(cx.timers(9).await.unwrap().is_empty());
}

async fn a_schedule_that_was_fired_comes_again(cx: Cx) {
    scheduled(&cx, "w", 10).await;
    let once = trigger(Schedule::At(later(5)), later(5));
    publish(&cx, "v", "hello", vec![once]).await;
    let both = [start("v", later(5)), start("w", later(10))];
    assert_eq!(cx.timers(9).await.unwrap(), both);
    assert_eq!(cx.fire(later(10), 9).await.unwrap(), 2);
    assert_eq!(cx.timers(9).await.unwrap(), [start("w", later(20))]);
}

async fn a_timer_goes_with_what_it_is_for(cx: Cx) {
    for id in ["a", "b", "c", "d"] {
        waits(&cx, id, &[5]).await;
    }
    scheduled(&cx, "w", 10).await;
    publish(&cx, "v", "hello", vec![event_trigger()]).await;
    cx.change("a", |commit| commit.leave("a:2")).await;
    cx.change("b", |commit| commit.end()).await;
    assert!(cx.delete(&instance("c")).await.unwrap());
    assert!(cx.retract(&named("w")).await.unwrap());
    assert_eq!(cx.timers(9).await.unwrap(), [resume("d:2", later(5))]);
}

/// Something that starts an instance, and not by itself.
fn event_trigger() -> TriggerRow {
    TriggerRow {
        node: node("root/wait"),
        hash: hash("Begin"),
        schedule: None,
        next: None,
    }
}

async fn timers_are_written_as_they_are_read(cx: Cx) {
    waits(&cx, "a", &[5]).await;
    scheduled(&cx, "w", 10).await;
    let written = serde_json::to_value(cx.timers(9).await.unwrap()).unwrap();
    let wanted = json!([
        { "due": later(5), "kind": { "resume": { "bookmark": "a:2", "instance": "a" } } },
        { "due": later(10), "kind": { "start": { "definition": "w", "node": "root/tick" } } },
    ]);
    assert_eq!(written, wanted);
    let read: Vec<Timer> = serde_json::from_value(written).unwrap();
    assert_eq!(read, cx.timers(9).await.unwrap());
}
