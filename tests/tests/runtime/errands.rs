//! What has to be done is done once, whoever fails on the way.

use crate::{
    shaky::{Shaky, Trouble},
    support::{DAY, Gate, PAST_HOLD, SECOND, World, instance, joined, kind, of, soon, values},
};
use lockwork::flow::{Commit, build::*};
use lockwork::runtime::{
    Clock, ErrorKind, Event, Options,
    store::{Errand, ErrandKind, Letter, Reason, Release},
};
use lockwork::workflow::{Run, SubStatus};
use serde_json::json;

/// Notes `a`, `b` and `c`, with a commit after each.
fn three_steps() -> Workflow {
    let steps = ["a", "b", "c"].map(|id| call(id, "note").with("args", id));
    workflow("w")
        .commit(Commit::Step)
        .root(sequence("all", steps))
}

async fn letters(world: &World) -> Vec<lockwork::runtime::store::DeadLetter> {
    soon(world.runtime().dead_letters().list()).await.unwrap()
}

#[tokio::test]
async fn what_fails_each_time_is_tried_three_times_and_becomes_a_dead_letter() {
    let world = World::new().await;
    world
        .publish(workflow("w").root(event("go", "Go").starts()))
        .await;
    let root = sequence("all", [event("wait", "Go"), call("boom", "panic")]);
    world.publish(workflow("v").root(root)).await;
    world.start("a", of("v")).await;
    let mut events = world.runtime().events();
    let reached = world.event("Go", json!({})).await;
    assert_eq!((reached.started.len(), reached.later), (1, 1));
    world.advance(SECOND * 60).await;
    let all = letters(&world).await;
    assert_eq!(all.len(), 1);
    let Reason::Failed { attempts, error } = &all[0].reason else {
        panic!("it failed, and did not expire");
    };
    assert_eq!(*attempts, 3);
    assert!(error.contains("panicked"), "{error}");
    while !matches!(soon(events.recv()).await.unwrap(), Event::Buried { .. }) {}
    assert_eq!(
        world.status("a").await,
        SubStatus::Suspended,
        "nothing of it counts"
    );
}

#[tokio::test]
async fn a_time_that_comes_and_fails_each_time_does_not_come_for_ever() {
    let world = World::new().await;
    let root = sequence("all", [delay("wait", "1h"), call("boom", "panic")]);
    world.publish(workflow("w").root(root)).await;
    world.start("a", of("w")).await;
    world.advance(DAY).await;
    assert_eq!(letters(&world).await.len(), 1);
    assert_eq!(soon(world.store.next_due()).await.unwrap(), None);
}

#[tokio::test]
async fn a_dead_letter_that_is_sent_once_more_is_tried_three_times_again() {
    let world = World::new().await;
    world
        .publish(workflow("w").root(sequence(
            "all",
            [event("wait", "Go"), call("boom", "panic")],
        )))
        .await;
    world.start("a", of("w")).await;
    world.event("Go", json!({})).await;
    world.advance(SECOND * 60).await;
    let first = letters(&world).await;
    let again = soon(world.runtime().dead_letters().replay(&first[0].id))
        .await
        .unwrap();
    world.advance(SECOND * 60).await;
    let all = letters(&world).await;
    let second = all.iter().find(|letter| letter.id == again).unwrap();
    assert!(matches!(second.reason, Reason::Failed { attempts: 3, .. }));
    assert!(matches!(second.letter, Letter::Errand(_)));
}

#[tokio::test]
async fn that_somebody_else_is_at_it_is_no_attempt() {
    let world = World::with(|builder| builder.options(impatient())).await;
    let root = sequence("all", [call("stay", "gate"), event("wait", "Go")]);
    world.publish(workflow("w").root(root)).await;
    let running = world.spawn_start("a", of("w"));
    world.gate.called(1).await;
    let now = world.clock.now();
    let errand = run_errand("a", now);
    soon(world.store.add(vec![errand])).await.unwrap();
    for _ in 0..10 {
        assert_eq!(soon(world.driver.step()).await.unwrap(), 1);
        world.clock.advance(SECOND);
    }
    assert!(
        letters(&world).await.is_empty(),
        "being busy is not failing"
    );
    world.gate.open();
    joined(running).await.unwrap();
    world.settle().await;
    assert_eq!(soon(world.store.next_due()).await.unwrap(), None);
}

fn impatient() -> Options {
    let mut options = Options::default();
    options.patience = std::time::Duration::from_millis(1);
    options
}

fn run_errand(id: &str, due: lockwork::workflow::Time) -> Errand {
    let kind = ErrandKind::Run {
        instance: instance(id),
        run: Run::default(),
    };
    let id = "again".to_owned();
    Errand { id, kind, due }
}

#[tokio::test]
async fn an_errand_that_is_given_back_without_an_attempt_has_as_many_left() {
    let world = World::new().await;
    let now = world.clock.now();
    soon(world.store.add(vec![run_errand("a", now)]))
        .await
        .unwrap();
    for counts in [false, false, true] {
        let held = soon(world.store.take(now, now.after(SECOND), 9))
            .await
            .unwrap();
        assert_eq!((held.len(), held[0].attempt), (1, 1));
        let release = Release {
            due: now,
            counts,
            error: None,
        };
        soon(world.store.release(&held[0], release)).await.unwrap();
    }
    let held = soon(world.store.take(now, now.after(SECOND), 9))
        .await
        .unwrap();
    assert_eq!(held[0].attempt, 2);
}

#[tokio::test]
async fn what_is_added_twice_under_one_name_is_one_errand() {
    let world = World::new().await;
    let now = world.clock.now();
    for _ in 0..2 {
        soon(world.store.add(vec![run_errand("a", now)]))
            .await
            .unwrap();
    }
    assert_eq!(
        soon(world.store.take(now, now.after(SECOND), 9))
            .await
            .unwrap()
            .len(),
        1
    );
}

#[tokio::test]
async fn a_hundred_errands_are_all_done() {
    let world = World::new().await;
    world
        .publish(workflow("w").root(call("note", "note")))
        .await;
    let now = world.clock.now();
    let mut errands = Vec::new();
    for at in 0..100 {
        let id = format!("a{at}");
        soon(world.client(&id).create(of("w"))).await.unwrap();
        errands.push(Errand {
            id: id.clone(),
            ..run_errand(&id, now)
        });
    }
    soon(world.store.add(errands)).await.unwrap();
    assert_eq!(world.settle().await, 100);
    assert_eq!(world.notes.all().len(), 100);
}

#[tokio::test]
async fn an_errand_for_an_instance_that_is_gone_is_dropped() {
    let world = World::new().await;
    let now = world.clock.now();
    soon(world.store.add(vec![run_errand("nobody", now)]))
        .await
        .unwrap();
    assert_eq!(world.settle().await, 1);
    assert_eq!(soon(world.store.next_due()).await.unwrap(), None);
    assert!(letters(&world).await.is_empty());
}

#[tokio::test]
async fn what_a_node_keeps_too_long_is_done_by_another_and_the_first_is_refused() {
    let world = World::new().await;
    let other = world.node(|builder| builder);
    let root = sequence(
        "all",
        [event("wait", "Go"), call("stay", "gate"), log("on", "on")],
    );
    world.publish(workflow("w").root(root)).await;
    world.start("a", of("w")).await;
    let sender = world.runtime().sender();
    let first = tokio::spawn(async move { sender.event("Go", json!({})).await });
    world.gate.called(1).await;
    other.gate.open();
    assert_eq!(other.settle().await, 0, "it is in the first one's hands");
    world.clock.advance(PAST_HOLD);
    assert_eq!(other.settle().await, 1);
    assert_eq!(world.status("a").await, SubStatus::Finished);
    world.gate.open();
    assert_eq!(joined(first).await.unwrap().later, 1);
    assert_eq!(
        world.logged("a").await,
        ["on"],
        "the first one has left no trace"
    );
    world.advance(DAY).await;
    assert_eq!(world.logged("a").await, ["on"]);
}

#[tokio::test]
async fn what_a_node_claims_while_another_works_is_its_own() {
    let world = World::new().await;
    let root = sequence(
        "all",
        [
            log("one", "one"),
            call("stay", "gate"),
            publish_event("say", "Said"),
        ],
    );
    world.publish(workflow("w").root(root)).await;
    let mut events = world.runtime().events();
    let running = world.spawn_start("a", of("w"));
    world.gate.called(1).await;
    soon(world.store.claim(&instance("a"), "somebody else"))
        .await
        .unwrap()
        .unwrap();
    world.gate.open();
    assert_eq!(kind(joined(running).await), ErrorKind::Fenced);
    assert_eq!(world.status("a").await, SubStatus::Pending);
    assert!(world.logged("a").await.is_empty());
    assert!(matches!(events.try_recv().unwrap(), Event::Created(_)));
    assert!(
        events.try_recv().is_err(),
        "nobody was told of what does not count"
    );
    assert!(world.waiting().await.is_empty());
    // What it was to do is left to be done.
    world.advance(PAST_HOLD).await;
    assert_eq!(world.status("a").await, SubStatus::Finished);
    assert_eq!(world.logged("a").await, ["one"]);
}

#[tokio::test]
async fn a_node_that_dies_between_two_steps_is_followed_by_another_that_repeats_none() {
    for at in 0..4 {
        let gate = Gate::new();
        let script = (0..at)
            .map(|_| Trouble::None)
            .chain([Trouble::Stalls(gate.clone())]);
        let world = World::on(Shaky::new(script).await, |builder| builder);
        let other = world.node(|builder| builder);
        world.publish(three_steps()).await;
        let dying = world.spawn_start("a", of("w"));
        gate.called(1).await;
        dying.abort();
        drop(world.driver);
        assert_eq!(other.settle().await, 0);
        other.clock.advance(PAST_HOLD);
        other.settle().await;
        let state = other.state("a").await;
        assert_eq!(state.sub_status, SubStatus::Finished, "after commit {at}");
        assert_eq!(
            other.notes.all(),
            [json!("a"), json!("b"), json!("c")],
            "after commit {at}"
        );
    }
}

#[tokio::test]
async fn a_commit_whose_answer_is_lost_is_neither_lost_nor_done_twice() {
    for at in 0..4 {
        let script = (0..at).map(|_| Trouble::None).chain([Trouble::AnswerLost]);
        let world = World::on(Shaky::new(script).await, |builder| builder);
        world.publish(three_steps()).await;
        let ran = world.start("a", of("w")).await;
        assert_eq!(ran.sub_status, SubStatus::Finished, "after commit {at}");
        world.advance(DAY).await;
        assert_eq!(
            world.notes.all(),
            [json!("a"), json!("b"), json!("c")],
            "after commit {at}"
        );
        assert_eq!(world.status("a").await, SubStatus::Finished);
        assert_eq!(soon(world.store.next_due()).await.unwrap(), None);
    }
}

#[tokio::test]
async fn a_commit_that_never_arrives_is_made_again_by_whoever_comes() {
    // One for each step; the last one says that it is over, too.
    for at in 0..4 {
        let script = (0..at).map(|_| Trouble::None).chain([Trouble::RequestLost]);
        let world = World::on(Shaky::new(script).await, |builder| builder);
        world.publish(three_steps()).await;
        let running = world.spawn_start("a", of("w"));
        let failed = joined(running).await.is_err();
        world.advance(DAY).await;
        assert_eq!(
            world.status("a").await,
            SubStatus::Finished,
            "after commit {at}"
        );
        let journal = soon(world.store.journal(&instance("a"), 0)).await.unwrap();
        let completed = journal
            .iter()
            .filter(|entry| entry.happened == lockwork::flow::Happened::Completed);
        assert_eq!(completed.count(), 4, "after commit {at}");
        let sequence: Vec<_> = journal.iter().map(|entry| entry.sequence).collect();
        assert!(
            sequence.iter().copied().eq(0..sequence.len() as u64),
            "{sequence:?}"
        );
        assert!(failed, "commit {at} was lost");
    }
}

#[tokio::test]
async fn an_event_whose_commit_is_in_doubt_is_delivered_once() {
    for trouble in [Trouble::AnswerLost, Trouble::RequestLost] {
        let shaky = Shaky::new([]).await;
        let world = World::on(shaky.clone(), |builder| builder);
        let body = sequence("body", [event("wait", "Go"), log("on", "on")]);
        world
            .publish(workflow("w").root(while_("again", true, body)))
            .await;
        world.start("a", of("w")).await;
        shaky.next([trouble.clone()]);
        world.event("Go", json!({})).await;
        world.advance(DAY).await;
        assert_eq!(world.logged("a").await, ["on"], "{trouble:?}");
        assert_eq!(world.state("a").await.bookmarks.len(), 1);
    }
}

#[tokio::test]
async fn an_event_that_is_resumed_directly_in_doubt_is_not_doubled() {
    let shaky = Shaky::new([]).await;
    let world = World::on(shaky.clone(), |builder| builder);
    let root = sequence("all", [event("wait", "Go"), publish_event("say", "Said")]);
    world.publish(workflow("w").root(root)).await;
    world
        .publish(workflow("v").root(sequence(
            "all",
            [event("hear", "Said").starts(), call("n", "note")],
        )))
        .await;
    world.start("a", of("w")).await;
    shaky.next([Trouble::AnswerLost]);
    let at = world.bookmark("a").await;
    let resumed = soon(
        world
            .runtime()
            .resumer()
            .resume(&instance("a"), at, values(json!({}))),
    )
    .await;
    assert_eq!(resumed.unwrap().sub_status, SubStatus::Finished);
    world.settle().await;
    assert_eq!(world.notes.all().len(), 1);
}

#[tokio::test]
async fn an_instance_that_was_created_and_whose_node_died_is_run_by_another() {
    let gate = Gate::new();
    let world = World::new().await;
    let dead = world.node(|builder| builder);
    world
        .publish(workflow("w").root(sequence("all", [call("stay", "gate"), log("on", "on")])))
        .await;
    let started = dead.spawn_start("a", of("w"));
    dead.gate.called(1).await;
    started.abort();
    world.gate.open();
    gate.open();
    world.clock.advance(PAST_HOLD);
    world.settle().await;
    assert_eq!(world.logged("a").await, ["on"]);
}

#[tokio::test]
async fn whoever_was_handed_an_errand_last_is_the_one_whose_commit_counts() {
    let world = World::new().await;
    let root = sequence(
        "all",
        [event("wait", "Go"), call("stay", "gate"), log("on", "on")],
    );
    world.publish(workflow("w").root(root)).await;
    world.start("a", of("w")).await;
    let sender = world.runtime().sender();
    let first = tokio::spawn(async move { sender.event("Go", json!({})).await });
    world.gate.called(1).await;
    // Another one was handed it since, and has not even claimed the instance.
    world.clock.advance(PAST_HOLD);
    let now = world.clock.now();
    let taken = soon(world.store.take(now, now.after(SECOND), 9)).await;
    assert_eq!(taken.unwrap().len(), 1);
    world.gate.open();
    assert_eq!(joined(first).await.unwrap().later, 1);
    assert!(world.logged("a").await.is_empty());
    world.advance(PAST_HOLD).await;
    assert_eq!(world.logged("a").await, ["on"]);
}
