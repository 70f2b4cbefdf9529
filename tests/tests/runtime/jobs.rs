//! Long work, done outside of the instances that wait for it.

use crate::{
    shaky::Shaky,
    support::{
        DAY, Gate, PAST_HOLD, World, fresh_store, instance, of, reaches, soon, time_is_ours,
    },
};
use lockwork::flow::{Retry, State, build::*};
use lockwork::runtime::{Clock, JobCall, Options, RuntimeBuilder};
use lockwork::workflow::{CreateAndRun, Failure, Runtime, SubStatus, Value};
use lockwork_conformance::generous;
use serde_json::json;
use std::{
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

/// Has a job done, and gives how its instance ended.
async fn ended(
    change: impl FnOnce(RuntimeBuilder) -> RuntimeBuilder + Send,
    root: Draft,
) -> Arc<State> {
    let world = World::with(change).await;
    world
        .publish(workflow("w").variable("got", ()).root(root.into("got")))
        .await;
    assert_eq!(
        world.start("a", of("w")).await.sub_status,
        SubStatus::Suspended
    );
    world.settle().await;
    world.state("a").await
}

fn failure(state: &State) -> &Failure {
    assert_eq!(state.sub_status, SubStatus::Faulted);
    &state.incidents[0].failure
}

#[tokio::test]
async fn the_result_of_a_job_goes_to_whoever_waits_for_it() {
    let double = |call: JobCall| async move { Ok(json!(call.with["n"].as_i64().unwrap_or(0) * 2)) };
    let root = job("work", "double").with("args", json!({ "n": 21 }));
    let state = ended(|builder| builder.job("double", double), root).await;
    assert_eq!(state.variables["got"], json!(42));
    assert_eq!(state.sub_status, SubStatus::Finished);
}

#[tokio::test]
async fn a_job_that_fails_fails_its_activity() {
    let fails = |_| async { Err(Failure::new("disk.full", "no room")) };
    let state = ended(|builder| builder.job("long", fails), job("work", "long")).await;
    assert_eq!(failure(&state), &Failure::new("disk.full", "no room"));
}

#[tokio::test]
async fn a_job_that_nobody_can_do_is_a_failure() {
    let state = ended(|builder| builder, job("work", "unknown")).await;
    assert_eq!(failure(&state).code, "job.unknown");
}

#[tokio::test]
async fn a_job_that_panics_is_a_failure() {
    let later = |_| async { panic!("on purpose") };
    let state = ended(|builder| builder.job("long", later), job("work", "long")).await;
    assert_eq!(failure(&state).code, "job.panicked");
    let at_once = |call: JobCall| {
        assert!(call.key.is_empty(), "on purpose");
        async { Ok(Value::Null) }
    };
    let state = ended(|builder| builder.job("long", at_once), job("work", "long")).await;
    assert_eq!(failure(&state).code, "job.panicked");
}

#[tokio::test]
async fn a_job_that_is_tried_again_on_purpose_has_another_key() {
    let calls: Arc<Mutex<Vec<JobCall>>> = Arc::default();
    let seen = Arc::clone(&calls);
    let fails = move |call: JobCall| {
        seen.lock().unwrap().push(call);
        async { Err(Failure::new("no", "no")) }
    };
    let root = job("work", "long").retry(Retry::new(1, Duration::ZERO));
    ended(|builder| builder.job("long", fails), root).await;
    let calls = calls.lock().unwrap();
    assert_eq!(calls.len(), 2);
    assert_ne!(calls[0].key, calls[1].key);
    assert_eq!((calls[0].attempt, calls[1].attempt), (1, 1));
}

#[tokio::test]
async fn a_job_for_which_nobody_waits_any_more_is_not_done_and_its_result_dropped() {
    let gate = Gate::new();
    let inside = gate.clone();
    let world = World::with(|builder| builder.job("long", move |_| inside.clone().pass())).await;
    let branches = [job("work", "long"), event("other", "Other")];
    world
        .publish(workflow("w").root(race("first", branches)))
        .await;
    world.start("a", of("w")).await;
    world.start("b", of("w")).await;
    soon(world.client("a").cancel()).await.unwrap();
    let working = world.spawn_settle();
    gate.called(1).await;
    soon(world.client("b").cancel()).await.unwrap();
    gate.open();
    crate::support::joined(working).await;
    world.settle().await;
    assert_eq!(
        gate.calls(),
        1,
        "the first one was called off before it was begun"
    );
    assert_eq!(world.status("b").await, SubStatus::Cancelled);
    assert_eq!(soon(world.store.next_due()).await.unwrap(), None);
}

#[tokio::test]
async fn a_job_that_a_node_keeps_too_long_is_done_again_by_another_and_counts_once() {
    let (gate, attempts) = (Gate::new(), Arc::new(Mutex::new(Vec::new())));
    let (inside, seen) = (gate.clone(), Arc::clone(&attempts));
    let world = World::with(|builder| builder.job("long", move |_| inside.clone().pass())).await;
    let other = world.node(|builder| {
        builder.job("long", move |call: JobCall| {
            seen.lock().unwrap().push((call.attempt, call.key));
            async { Ok(json!("other")) }
        })
    });
    let root = sequence("all", [job("work", "long").into("got"), log("on", "on")]);
    world
        .publish(workflow("w").variable("got", ()).root(root))
        .await;
    world.start("a", of("w")).await;
    let first = world.spawn_settle();
    gate.called(1).await;
    assert_eq!(other.settle().await, 0);
    world.clock.advance(PAST_HOLD);
    other.settle().await;
    gate.open();
    crate::support::joined(first).await;
    other.settle().await;
    assert_eq!(attempts.lock().unwrap().len(), 1);
    assert_eq!(attempts.lock().unwrap()[0].0, 2);
    assert_eq!(world.state("a").await.variables["got"], json!("other"));
    assert_eq!(world.logged("a").await, ["on"]);
}

#[tokio::test]
async fn the_result_of_whoever_was_handed_a_job_last_counts() {
    let world = World::new().await;
    world.publish(workflow("w").root(job("work", "long"))).await;
    world.start("a", of("w")).await;
    let mut taken = Vec::new();
    for _ in 0..2 {
        let now = world.clock.now();
        let jobs = soon(world.store.take_jobs(now, now.after(PAST_HOLD), 9)).await;
        taken.extend(jobs.unwrap());
        world.clock.advance(PAST_HOLD);
    }
    let now = world.clock.now();
    for (job, counts) in [(&taken[0], false), (&taken[1], true), (&taken[1], false)] {
        let result = crate::support::values(json!({ "result": 1 }));
        let counted = soon(world.store.finish_job(job, result, now)).await;
        assert_eq!(counted.unwrap(), counts);
    }
}

#[tokio::test]
async fn a_job_of_which_nodes_die_again_and_again_fails() {
    let world = World::new().await;
    world.publish(workflow("w").root(job("work", "long"))).await;
    world.start("a", of("w")).await;
    for _ in 0..5 {
        let now = world.clock.now();
        assert_eq!(
            soon(world.store.take_jobs(now, now.after(PAST_HOLD), 9))
                .await
                .unwrap()
                .len(),
            1
        );
        world.clock.advance(PAST_HOLD);
    }
    world.settle().await;
    assert_eq!(failure(&*world.state("a").await).code, "job.lost");
}

/// What follows runs on real workers, with the real clock.
fn live(store: Arc<dyn lockwork::runtime::Store>) -> RuntimeBuilder {
    RuntimeBuilder::new(store)
}

async fn start(runtime: &lockwork::runtime::LocalRuntime, id: &str, root: Draft) {
    soon(runtime.start()).await.unwrap();
    let built = workflow("w")
        .variable("got", ())
        .root(root)
        .build()
        .unwrap();
    soon(runtime.definitions().publish(built)).await.unwrap();
    let client = runtime.client(Some(instance(id)));
    soon(client.create_and_run(CreateAndRun::new(of("w"))))
        .await
        .unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn jobs_begin_as_soon_as_somebody_asks_for_them() {
    let (store, _place) = fresh_store().await;
    let runtime = live(store).job("quick", |_| async { Ok(json!(1)) }).build();
    let mut events = runtime.events();
    let began = Instant::now();
    let each = job("work", "quick");
    start(
        &runtime,
        "a",
        for_each("five", json!([1, 2, 3, 4, 5]), each),
    )
    .await;
    reaches(
        &**runtime.store(),
        &mut events,
        &instance("a"),
        SubStatus::Finished,
    )
    .await;
    assert!(
        began.elapsed() < generous(Duration::from_millis(2500)),
        "too late: nobody heard the bell, and each was found a second later"
    );
    soon(runtime.drain()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_more_jobs_are_under_way_than_is_said() {
    let gate = Gate::new();
    let inside = gate.clone();
    let mut options = Options::default();
    options.jobs = 2;
    let (store, _place) = fresh_store().await;
    let runtime = live(store)
        .options(options)
        .job("long", move |_| inside.clone().pass())
        .build();
    let mut events = runtime.events();
    let each = job("work", "long");
    start(
        &runtime,
        "a",
        parallel_for_each("six", json!([1, 2, 3, 4, 5, 6]), each),
    )
    .await;
    gate.called(2).await;
    gate.open();
    reaches(
        &**runtime.store(),
        &mut events,
        &instance("a"),
        SubStatus::Finished,
    )
    .await;
    assert_eq!((gate.calls(), gate.most()), (6, 2));
    soon(runtime.drain()).await;
}

#[tokio::test(start_paused = true)]
async fn a_job_is_stopped_soon_after_nobody_waits_for_it_any_more() {
    if !time_is_ours() {
        return;
    }
    let gate = Gate::new();
    let inside = gate.clone();
    let (store, _place) = fresh_store().await;
    let runtime = live(store)
        .job("long", move |_| inside.clone().pass())
        .build();
    start(&runtime, "a", job("work", "long")).await;
    gate.called(1).await;
    soon(runtime.client(Some(instance("a"))).cancel())
        .await
        .unwrap();
    gate.empty().await;
    soon(runtime.drain()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_result_is_kept_until_the_store_takes_it() {
    let shaky = Shaky::new([]).await;
    shaky.lose_results(3);
    let calls = Arc::new(Mutex::new(0));
    let counted = Arc::clone(&calls);
    let world = World::on(shaky.clone(), move |builder| {
        builder.job("long", move |_| {
            *counted.lock().unwrap() += 1;
            async { Ok(json!(1)) }
        })
    });
    let mut events = world.runtime().events();
    start(world.runtime(), "a", job("work", "long")).await;
    shaky.results_lost().await;
    let id = instance("a");
    reaches(&*world.store, &mut events, &id, SubStatus::Finished).await;
    assert_eq!(*calls.lock().unwrap(), 1, "it was not done again");
    soon(world.runtime().drain()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nodes_that_end_in_order_use_up_no_attempt_of_a_job() {
    let ((store, _place), gate) = (fresh_store().await, Gate::new());
    let node = || {
        let (inside, store) = (gate.clone(), store.clone());
        live(store)
            .job("long", move |_| inside.clone().pass())
            .build()
    };
    let first = node();
    start(&first, "a", job("work", "long")).await;
    gate.called(1).await;
    soon(first.drain()).await;
    for restarts in 2..=7 {
        let next = node();
        soon(next.start()).await.unwrap();
        gate.called(restarts).await;
        soon(next.drain()).await;
    }
    gate.open();
    let last = node();
    let mut events = last.events();
    soon(last.start()).await.unwrap();
    reaches(&*store, &mut events, &instance("a"), SubStatus::Finished).await;
    soon(last.drain()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_job_of_a_node_that_ends_is_done_by_another_at_once() {
    let ((store, _place), gate) = (fresh_store().await, Gate::new());
    let inside = gate.clone();
    let first = live(store.clone())
        .job("long", move |_| inside.clone().pass())
        .build();
    start(&first, "a", job("work", "long").into("got")).await;
    gate.called(1).await;
    assert_eq!(soon(first.drain()).await, lockwork::runtime::Drained::Done);
    let second = live(store.clone())
        .job("long", |_| async { Ok(json!("second")) })
        .build();
    let mut events = second.events();
    soon(second.start()).await.unwrap();
    reaches(&*store, &mut events, &instance("a"), SubStatus::Finished).await;
    soon(second.drain()).await;
    let state = crate::support::state(&*store, &instance("a")).await;
    assert_eq!(state.variables["got"], json!("second"));
}

#[tokio::test]
async fn a_job_that_was_asked_for_long_ago_is_done_when_somebody_comes() {
    let world = World::new().await;
    let other = world.node(|builder| builder.job("long", |_| async { Ok(json!(1)) }));
    world.publish(workflow("w").root(job("work", "long"))).await;
    world.start("a", of("w")).await;
    world.clock.advance(DAY * 30);
    other.settle().await;
    assert_eq!(world.status("a").await, SubStatus::Finished);
}
