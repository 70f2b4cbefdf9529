//! Telling instances that something happened: early, late, often, and to whom.

use crate::support::{World, event_called, instance, joined, kind, of, soon, values};
use lockwork::flow::{Commit, build::*};
use lockwork::runtime::{
    Clock, ErrorKind,
    store::{Errand, ErrandKind},
};
use lockwork::workflow::{Addressee, BookmarkId, ExecutionId, Stimulus, SubStatus};
use serde_json::json;

/// Waits for `name` as often as it is told, and counts.
pub(crate) fn listener(id: &str, name: &str, often: u32) -> Workflow {
    let body = sequence(
        "body",
        [
            event("wait", name).into("got"),
            set_variable("add", "sum", expr("sum + got.value")),
            set_variable("count", "count", expr("count + 1")),
        ],
    );
    let again = while_("again", expr(format!("count < {often}")), body);
    let variables = workflow(id).variable("got", ()).variable("sum", 0);
    variables.variable("count", 0).root(again)
}

pub(crate) fn to(change: impl FnOnce(&mut Addressee)) -> Addressee {
    let mut to = Addressee::default();
    change(&mut to);
    to
}

#[tokio::test]
async fn an_early_event_is_delivered_when_somebody_waits_for_it() {
    let world = World::new().await;
    world.publish(listener("w", "Go", 1)).await;
    assert!(world.event("Go", json!(7)).await.queued);
    assert_eq!(world.waiting().await.len(), 1);
    world.start("a", of("w")).await;
    assert!(world.waiting().await.is_empty());
    world.settle().await;
    assert_eq!(world.state("a").await.variables["sum"], json!(7));
}

#[tokio::test]
async fn a_thousand_events_for_one_instance_all_arrive_once() {
    let world = World::new().await;
    world.publish(listener("w", "Go", 1000)).await;
    world.start("a", of("w")).await;
    let mut early = Vec::new();
    for number in 1..=1000 {
        let (sender, input) = (world.runtime().sender(), values(json!(number)));
        let sent = async move { sender.send(event_called("Go").input(input)).await };
        match number % 3 {
            0 => drop(soon(sent).await.unwrap()),
            _ => early.push(tokio::spawn(sent)),
        }
    }
    for sent in early {
        joined(sent).await.unwrap();
    }
    world.settle().await;
    let state = world.state("a").await;
    assert_eq!(state.sub_status, SubStatus::Finished);
    assert_eq!(state.variables["sum"], json!(500_500));
    assert!(world.waiting().await.is_empty());
}

#[tokio::test]
async fn an_event_resumes_everybody_who_waits_for_it() {
    let world = World::new().await;
    world.publish(listener("w", "Go", 1)).await;
    world.publish(listener("other", "Stop", 1)).await;
    for number in 0..20 {
        world.start(&format!("a{number}"), of("w")).await;
    }
    world.start("b", of("other")).await;
    let reached = world.event("Go", json!(1)).await;
    assert_eq!((reached.resumed.len(), reached.later), (20, 0));
    assert!(!reached.queued && world.waiting().await.is_empty());
    assert_eq!(world.status("b").await, SubStatus::Suspended);
}

#[tokio::test]
async fn an_event_reaches_those_too_whom_another_one_is_just_resuming() {
    let world = World::new().await;
    world.publish(listener("w", "Go", 3)).await;
    for id in ["a", "b"] {
        world.start(id, of("w")).await;
    }
    // Nobody does what has to be done meanwhile: each event but the first finds both of them promised.
    for number in 1..=3 {
        let errand = Errand {
            id: format!("send-{number}"),
            kind: ErrandKind::Send(event_called("Go").input(values(json!(number)))),
            due: world.clock.now(),
        };
        world.runtime().store().add(vec![errand]).await.unwrap();
    }
    world.settle().await;
    for id in ["a", "b"] {
        assert_eq!(world.state(id).await.variables["sum"], json!(6), "{id}");
        assert_eq!(world.status(id).await, SubStatus::Finished);
    }
    assert!(world.waiting().await.is_empty());
}

#[tokio::test]
async fn an_event_with_a_correlation_is_for_those_who_have_it() {
    let world = World::new().await;
    world.publish(listener("w", "Go", 1)).await;
    world.start("a", of("w").correlation("one")).await;
    world.start("b", of("w").correlation("two")).await;
    world.start("c", of("w")).await;
    let one = to(|to| to.correlation = Some("one".into()));
    let reached = world
        .send(event_called("Go").to(one.clone()).input(values(json!(1))))
        .await;
    assert_eq!(reached.resumed.len(), 1);
    assert_eq!(reached.resumed[0].instance, instance("a"));
    assert!(world.send(event_called("Go").to(one)).await.queued);
    assert_eq!(world.status("b").await, SubStatus::Suspended);
    assert_eq!(world.status("c").await, SubStatus::Suspended);
}

#[tokio::test]
async fn an_event_for_a_correlation_reaches_whoever_gets_it_later() {
    let world = World::new().await;
    let then = sequence("then", [event("first", "First"), correlate("now", "late")]);
    let root = parallel("all", [event("wait", "Go"), then]);
    world
        .publish(workflow("w").commit(Commit::Step).root(root))
        .await;
    world.start("a", of("w")).await;
    let late = to(|to| to.correlation = Some("late".into()));
    assert!(world.send(event_called("Go").to(late)).await.queued);
    world.event("First", json!({})).await;
    world.settle().await;
    assert_eq!(world.status("a").await, SubStatus::Finished);
}

#[tokio::test]
async fn an_event_for_an_instance_an_execution_or_a_bookmark_reaches_no_other() {
    let world = World::new().await;
    let both = parallel("both", [event("left", "Go"), event("right", "Go")]);
    world.publish(workflow("w").root(both)).await;
    for id in ["a", "b"] {
        world.start(id, of("w")).await;
    }
    let bookmarks = world.state("a").await.bookmarks.clone();
    let only = to(|to| to.bookmark = Some(bookmarks[0].id.clone()));
    assert_eq!(
        world.send(event_called("Go").to(only)).await.resumed.len(),
        1
    );
    let rest = world.state("a").await.bookmarks.clone();
    assert_eq!(rest.len(), 1);
    assert_ne!(rest[0].id, bookmarks[0].id);
    let execution = to(|to| {
        to.instance = Some(instance("a"));
        to.execution = Some(rest[0].execution.clone());
    });
    assert_eq!(
        world
            .send(event_called("Go").to(execution))
            .await
            .resumed
            .len(),
        1
    );
    assert_eq!(world.status("a").await, SubStatus::Finished);
    assert_eq!(world.state("b").await.bookmarks.len(), 2);
    let instance_only = to(|to| to.instance = Some(instance("b")));
    let reached = world.send(event_called("Go").to(instance_only)).await;
    assert_eq!(reached.resumed.len(), 2);
}

#[tokio::test]
async fn of_two_who_resume_one_bookmark_at_once_one_does_and_the_other_event_is_kept() {
    let world = World::new().await;
    let steps = [
        event("one", "Go").into("one"),
        call("stay", "gate"),
        event("two", "Go").into("two"),
    ];
    let variables = workflow("w").variable("one", ()).variable("two", ());
    world.publish(variables.root(sequence("all", steps))).await;
    world.start("a", of("w")).await;
    let send = |number: u32| {
        let sender = world.runtime().sender();
        tokio::spawn(async move { sender.event("Go", json!(number)).await })
    };
    let (first, second) = (send(1), send(2));
    world.gate.called(1).await;
    world.gate.open();
    joined(first).await.unwrap();
    joined(second).await.unwrap();
    world.settle().await;
    let state = world.state("a").await;
    assert_eq!(state.sub_status, SubStatus::Finished);
    let sum = state.variables["one"]["value"].as_u64().unwrap()
        + state.variables["two"]["value"].as_u64().unwrap();
    assert_eq!(sum, 3, "both were delivered, each once");
}

#[tokio::test]
async fn an_event_whose_sender_goes_away_is_delivered_as_if_it_had_stayed() {
    let world = World::new().await;
    let steps = [event("one", "Go"), call("stay", "gate"), event("two", "Go")];
    world
        .publish(workflow("w").root(sequence("all", steps)))
        .await;
    world.start("a", of("w")).await;
    let (resumer, at) = (world.runtime().resumer(), world.bookmark("a").await);
    let running =
        tokio::spawn(async move { resumer.resume(&instance("a"), at, values(json!({}))).await });
    world.gate.called(1).await;
    let sender = world.runtime().sender();
    let sent = tokio::spawn(async move { sender.event("Go", json!({})).await });
    let held = async {
        while world.store.next_due().await.unwrap().is_none() {
            tokio::task::yield_now().await;
        }
    };
    soon(held).await;
    sent.abort();
    world.gate.open();
    joined(running).await.unwrap();
    // The clock stands still, so nobody else is handed what the sender had in hand.
    let over = async {
        while world.status("a").await != SubStatus::Finished {
            world.settle().await;
            tokio::task::yield_now().await;
        }
    };
    soon(over).await;
}

#[tokio::test]
async fn an_event_that_comes_too_late_for_a_bookmark_reaches_the_next_one() {
    let world = World::new().await;
    let steps = [event("one", "Go"), event("two", "Go").into("two")];
    world
        .publish(
            workflow("w")
                .variable("two", ())
                .root(sequence("all", steps)),
        )
        .await;
    world.start("a", of("w")).await;
    // The event is promised to the first bookmark, and somebody resumes that directly before it comes.
    let now = lockwork::runtime::Clock::now(&world.clock);
    let sent = soon(world.store.send(lockwork::runtime::store::Sending {
        id: "late".into(),
        stimulus: event_called("Go").input(values(json!(2))),
        now,
        expires: None,
        consumes: None,
        hold: now,
    }));
    sent.await.unwrap();
    let resumer = world.runtime().resumer();
    let at = world.bookmark("a").await;
    soon(resumer.resume(&instance("a"), at, values(json!({}))))
        .await
        .unwrap();
    world.settle().await;
    assert_eq!(world.status("a").await, SubStatus::Finished);
    assert_eq!(
        world.state("a").await.variables["two"],
        json!({ "value": 2 })
    );
}

#[tokio::test]
async fn an_instance_can_make_an_event_for_which_it_waits_itself() {
    let world = World::new().await;
    let both = parallel(
        "both",
        [
            event("wait", "Mine").into("got"),
            publish_event("say", "Mine").with("payload", 5),
        ],
    );
    world
        .publish(workflow("w").variable("got", ()).root(both))
        .await;
    world.start("a", of("w")).await;
    world.settle().await;
    assert_eq!(world.status("a").await, SubStatus::Finished);
    assert_eq!(
        world.state("a").await.variables["got"],
        json!({ "value": 5 })
    );
}

#[tokio::test]
async fn a_local_event_reaches_the_instance_that_made_it_alone() {
    let world = World::new().await;
    let local = publish_event("say", "Mine").with("local", true);
    world
        .publish(workflow("w").root(parallel("both", [event("wait", "Mine"), local])))
        .await;
    world
        .publish(workflow("other").root(event("wait", "Mine")))
        .await;
    world
        .publish(workflow("starts").root(event("wait", "Mine").starts()))
        .await;
    world.start("b", of("other")).await;
    world.start("a", of("w")).await;
    world.settle().await;
    assert_eq!(world.status("a").await, SubStatus::Finished);
    assert_eq!(world.status("b").await, SubStatus::Suspended);
    assert_eq!(world.count().await, 2);
}

#[tokio::test]
async fn of_several_events_with_one_key_one_counts() {
    let world = World::new().await;
    world.publish(listener("w", "Go", 2)).await;
    world.start("a", of("w")).await;
    let sent = || {
        event_called("Go")
            .input(values(json!(1)))
            .key("shipment-17")
    };
    assert!(!world.send(sent()).await.duplicate);
    let second = world.send(sent()).await;
    assert!(second.duplicate && second.resumed.is_empty() && !second.queued);
    assert_eq!(world.state("a").await.variables["count"], json!(1));
}

#[tokio::test]
async fn what_nobody_can_be_told_is_told_to_nobody() {
    let world = World::new().await;
    let nobody = [
        to(|to| to.execution = Some(ExecutionId::numbered(99))),
        to(|to| to.bookmark = Some(BookmarkId::new("none:1").unwrap())),
        to(|to| to.correlation = Some("none".into())),
    ];
    world.publish(workflow("w").root(event("wait", "Go"))).await;
    world.start("a", of("w")).await;
    for one in nobody {
        let reached = world.send(event_called("Go").to(one)).await;
        assert!(reached.queued && reached.resumed.is_empty());
    }
    assert_eq!(world.status("a").await, SubStatus::Suspended);
}

#[tokio::test]
async fn a_stimulus_without_a_name_is_refused() {
    assert_eq!(kind(Stimulus::new("", &json!({}))), ErrorKind::Invalid);
    let world = World::new().await;
    let long = "x".repeat(1 << 20);
    let refused = soon(world.runtime().sender().event(&long, json!({}))).await;
    assert_eq!(kind(refused), ErrorKind::Invalid);
}

/// Events that make events, for longer than any name could get by one more letter each time.
#[tokio::test]
async fn a_long_chain_of_events_does_not_end_by_itself() {
    let world = World::new().await;
    let chain = |id: &str, hears: &str, says: &str| {
        let steps = [
            event("hear", hears).starts().into("got"),
            call("note", "note"),
            if_("more", expr("got.left > 0")).then(
                publish_event("say", says).with("payload", json!({ "left": expr("got.left - 1") })),
            ),
        ];
        workflow(id)
            .variable("got", ())
            .root(sequence("all", steps))
    };
    world.publish(chain("ping", "Ping", "Pong")).await;
    world.publish(chain("pong", "Pong", "Ping")).await;
    world.event("Ping", json!({ "left": 100 })).await;
    world.settle().await;
    assert_eq!(world.notes.all().len(), 101);
}
