//! Times that have come.

use crate::support::*;
use lockwork::{
    flow::{Cron, Schedule},
    runtime::store::{ErrandKind, NewVersion, TriggerRow},
    workflow::{DefinitionHandle, Run, StimulusHash, Target, Time},
};
use serde_json::json;
use std::time::Duration;

pub(crate) fn list() -> Vec<Case> {
    cases![
        a_bookmark_whose_time_has_come_is_resumed_once,
        no_more_times_are_fired_than_somebody_wants,
        a_time_for_a_bookmark_that_is_promised_waits_for_that,
        a_schedule_starts_an_instance_each_time,
        a_schedule_that_was_missed_is_not_made_up_for,
        a_moment_comes_once,
        a_clock_comes_again,
        a_schedule_that_is_retracted_does_not_come,
    ]
}

fn every(seconds: u64) -> Schedule {
    Schedule::Every(Duration::from_secs(seconds).into())
}

pub(crate) fn trigger(schedule: Schedule, next: Time) -> TriggerRow {
    let json = serde_json::to_value(&schedule).unwrap();
    TriggerRow {
        node: node("root/tick"),
        hash: StimulusHash::of("Timer", &json, None).unwrap(),
        schedule: Some(schedule),
        next: Some(next),
    }
}

pub(crate) async fn publish(cx: &Cx, id: &str, text: &str, triggers: Vec<TriggerRow>) {
    let new = NewVersion {
        definition: definition(id, text),
        publish: true,
        triggers,
        now: NOW,
    };
    cx.put(new).await.unwrap();
}

/// A workflow that is started every so many seconds.
pub(crate) async fn scheduled(cx: &Cx, id: &str, seconds: u32) {
    let row = trigger(every(seconds.into()), later(seconds.into()));
    publish(cx, id, "hello", vec![row]).await;
}

async fn next(cx: &Cx, id: &str) -> Option<Time> {
    cx.triggers(&named(id)).await.unwrap()[0].next
}

async fn a_bookmark_whose_time_has_come_is_resumed_once(cx: Cx) {
    cx.made("a").await;
    cx.change("a", |commit| {
        commit.wait(alarm("a:1", later(5)));
        commit.wait(alarm("a:2", later(6)));
    })
    .await;
    assert_eq!(cx.fire(later(4), 9).await.unwrap(), 0);
    assert_eq!(cx.fire(later(5), 9).await.unwrap(), 1);
    assert_eq!(cx.fire(later(5), 9).await.unwrap(), 0);
    let to_do = cx.to_do().await;
    assert_eq!((to_do.len(), to_do[0].errand.due), (1, later(5)));
    let wanted = ErrandKind::Deliver {
        instance: instance("a"),
        bookmark: bookmark("a:1"),
        input: values(json!({})),
        stimulus: None,
    };
    assert_eq!(to_do[0].errand.kind, wanted);
    let told = cx.tell(event("a:1")).await;
    assert!(
        told.errands.is_empty() && told.queued,
        "something else resumes it first"
    );
}

async fn no_more_times_are_fired_than_somebody_wants(cx: Cx) {
    cx.made("a").await;
    cx.change("a", |commit| {
        for at in 1..=5 {
            commit.wait(alarm(&format!("a:{at}"), later(6 - at)));
        }
    })
    .await;
    assert_eq!(cx.fire(later(9), 0).await.unwrap(), 0);
    assert_eq!(cx.fire(later(9), 2).await.unwrap(), 2);
    let first = cx.take(later(9), later(99), 9).await.unwrap();
    let first: Vec<_> = first.into_iter().map(|held| held.errand.due).collect();
    assert_eq!(first, [later(1), later(2)], "the first come first");
    assert_eq!(cx.fire(later(9), usize::MAX).await.unwrap(), 3);
}

async fn a_time_for_a_bookmark_that_is_promised_waits_for_that(cx: Cx) {
    cx.made("a").await;
    cx.change("a", |commit| commit.wait(alarm("a:1", later(5))))
        .await;
    cx.send(sending_as("s", event("a:1"))).await.unwrap();
    let held = cx.take(NOW, later(30), 9).await.unwrap().pop().unwrap();
    cx.fire(later(5), 9).await.unwrap();
    assert!(cx.take(later(6), later(30), 9).await.unwrap().is_empty());
    assert!(
        cx.done(&held).await.unwrap(),
        "whoever was promised it did not come"
    );
    assert_eq!(cx.next_due().await.unwrap(), Some(later(5)));
    assert_eq!(cx.fire(later(6), 9).await.unwrap(), 1);
    assert_eq!(cx.take(later(6), later(30), 9).await.unwrap().len(), 1);
}

async fn a_schedule_starts_an_instance_each_time(cx: Cx) {
    scheduled(&cx, "w", 10).await;
    assert_eq!(cx.fire(later(9), 9).await.unwrap(), 0);
    let mut started = Vec::new();
    for at in [10, 20, 30] {
        assert_eq!(cx.fire(later(at), 9).await.unwrap(), 1);
        assert_eq!(cx.fire(later(at), 9).await.unwrap(), 0);
        let held = cx
            .take(later(at), later(99), 9)
            .await
            .unwrap()
            .pop()
            .unwrap();
        assert_eq!(held.errand.due, later(at));
        let ErrandKind::Start {
            instance,
            create,
            run,
        } = held.errand.kind
        else {
            panic!("an instance is started");
        };
        assert_eq!(create.definition, DefinitionHandle::Version(version("w:1")));
        assert_eq!(run, Run::at(Target::Trigger(node("root/tick"))));
        started.push(instance);
        assert_eq!(next(&cx, "w").await, Some(later(at + 10)));
    }
    started.dedup();
    assert_eq!(started.len(), 3, "each is another one");
}

async fn a_schedule_that_was_missed_is_not_made_up_for(cx: Cx) {
    scheduled(&cx, "w", 10).await;
    assert_eq!(cx.fire(later(45), 9).await.unwrap(), 1);
    assert_eq!(cx.fire(later(45), 9).await.unwrap(), 0);
    assert_eq!(next(&cx, "w").await, Some(later(50)));
    assert_eq!(
        cx.next_due().await.unwrap(),
        Some(later(10)),
        "that errand was due then"
    );
}

async fn a_moment_comes_once(cx: Cx) {
    publish(
        &cx,
        "w",
        "hello",
        vec![trigger(Schedule::At(later(5)), later(5))],
    )
    .await;
    assert_eq!(cx.fire(later(100), 9).await.unwrap(), 1);
    assert_eq!(cx.fire(later(200), 9).await.unwrap(), 0);
    assert_eq!(next(&cx, "w").await, None);
}

async fn a_clock_comes_again(cx: Cx) {
    let hourly = Cron::new("0 * * * *", None).unwrap();
    publish(
        &cx,
        "w",
        "hello",
        vec![trigger(Schedule::Cron(hourly), later(3600))],
    )
    .await;
    assert_eq!(cx.fire(later(3600), 9).await.unwrap(), 1);
    assert_eq!(next(&cx, "w").await, Some(later(7200)));
}

async fn a_schedule_that_is_retracted_does_not_come(cx: Cx) {
    scheduled(&cx, "w", 10).await;
    scheduled(&cx, "v", 20).await;
    assert!(cx.retract(&named("w")).await.unwrap());
    assert_eq!(cx.next_due().await.unwrap(), Some(later(20)));
    assert_eq!(cx.fire(later(100), 9).await.unwrap(), 1);
}
