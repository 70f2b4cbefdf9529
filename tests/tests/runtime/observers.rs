//! What observers are told, incidents, and how much happens at once.

use crate::support::{World, fresh_store, instance, joined, kind, of, soon};
use lockwork::flow::{Happened, Registry, build::*};
use lockwork::runtime::{ErrorKind, Event, Options, RuntimeBuilder};
use lockwork::workflow::CreateAndRun;
use lockwork::workflow::{ExecutionId, IncidentStrategy, Run, Runtime, SubStatus, Target};
use serde_json::json;
use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

#[tokio::test]
async fn observers_are_told_what_was_written_down_in_order() {
    let world = World::new().await;
    world
        .publish(workflow("w").root(sequence(
            "all",
            [log("one", "one"), run_task("pack", "Pack")],
        )))
        .await;
    let mut events = world.runtime().events();
    world.start("a", of("w")).await;
    assert!(matches!(events.try_recv().unwrap(), Event::Created(id) if id == instance("a")));
    let Event::Committed {
        instance: id,
        sub_status,
        journal,
    } = events.try_recv().unwrap()
    else {
        panic!("a commit is told");
    };
    assert_eq!((id, sub_status), (instance("a"), SubStatus::Suspended));
    assert!(
        journal
            .iter()
            .any(|entry| entry.happened == Happened::Logged)
    );
    assert!(matches!(events.try_recv().unwrap(), Event::Task(task) if task.name == "Pack"));
    assert!(events.try_recv().is_err());
}

#[tokio::test]
async fn what_failed_ends_the_instance_and_leaves_nothing_to_wait_for() {
    let world = World::new().await;
    let root = parallel(
        "all",
        [
            event("wait", "Go"),
            run_task("task", "Pack"),
            call("fails", "refuse"),
        ],
    );
    world.publish(workflow("w").root(root)).await;
    let ran = world.start("a", of("w")).await;
    assert_eq!(ran.sub_status, SubStatus::Faulted);
    assert_eq!(ran.incidents[0].failure.code, "refused");
    assert!(ran.bookmarks.is_empty());
    assert!(soon(world.store.tasks()).await.unwrap().is_empty());
    assert!(world.event("Go", json!({})).await.queued);
}

#[tokio::test]
async fn where_others_go_on_what_failed_waits_for_somebody_to_retry_it() {
    let world = World::new().await;
    let open = Arc::new(AtomicUsize::new(0));
    let asked = Arc::clone(&open);
    let registry = Registry::standard().code("maybe", move |_| {
        let well = asked.load(Ordering::Acquire) > 0;
        async move {
            match well {
                true => Ok(json!("well")),
                false => Err(lockwork::workflow::Failure::new("not.yet", "not yet")),
            }
        }
    });
    let node = world.node(|builder| builder.registry(registry));
    let root = parallel(
        "all",
        [
            call("maybe", "maybe"),
            sequence("other", [event("wait", "Go"), log("on", "on")]),
        ],
    );
    node.publish(
        workflow("w")
            .incidents(IncidentStrategy::Continue)
            .root(root),
    )
    .await;
    let ran = node.start("a", of("w")).await;
    assert_eq!(
        (ran.sub_status, ran.incidents.len()),
        (SubStatus::Suspended, 1)
    );
    node.event("Go", json!({})).await;
    assert_eq!(node.logged("a").await, ["on"]);
    assert_eq!(node.status("a").await, SubStatus::Suspended);
    open.store(1, Ordering::Release);
    let (resumer, id) = (node.runtime().resumer(), instance("a"));
    let retried = soon(resumer.retry(&id, ran.incidents[0].execution.clone()))
        .await
        .unwrap();
    assert_eq!(
        (retried.sub_status, retried.incidents.len()),
        (SubStatus::Finished, 0)
    );
}

#[tokio::test]
async fn an_instance_that_failed_goes_on_where_it_is_retried() {
    let world = World::new().await;
    let root = sequence(
        "all",
        [
            log("one", "one"),
            call("fails", "refuse"),
            log("two", "two"),
        ],
    );
    world.publish(workflow("w").root(root)).await;
    let failed = world.start("a", of("w")).await;
    let (resumer, id) = (world.runtime().resumer(), instance("a"));
    let execution = failed.incidents[0].execution.clone();
    let wrong = soon(resumer.retry(&id, ExecutionId::numbered(77))).await;
    assert_eq!(kind(wrong), ErrorKind::NotFound);
    let better = Registry::standard().code("refuse", |_| async { Ok(json!(1)) });
    let node = world.node(|builder| builder.registry(better));
    let retried = soon(node.runtime().resumer().retry(&id, execution))
        .await
        .unwrap();
    assert_eq!(retried.sub_status, SubStatus::Finished);
    assert_eq!(world.logged("a").await, ["one", "two"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_more_bursts_run_at_once_than_is_said() {
    let mut options = Options::default();
    options.bursts = 2;
    let world = World::with(|builder| builder.options(options)).await;
    world
        .publish(workflow("w").root(call("stay", "gate")))
        .await;
    let starts: Vec<_> = (0..10)
        .map(|at| world.spawn_start(&format!("a{at}"), of("w")))
        .collect();
    world.gate.called(2).await;
    world.gate.open();
    for start in starts {
        assert_eq!(joined(start).await.unwrap().sub_status, SubStatus::Finished);
    }
    assert_eq!((world.gate.calls(), world.gate.most()), (10, 2));
}

#[tokio::test]
async fn bursts_of_one_instance_run_one_after_another() {
    let world = World::new().await;
    let body = sequence("body", [event("wait", "Go"), call("stay", "gate")]);
    world
        .publish(workflow("w").root(while_("again", true, body)))
        .await;
    world.start("a", of("w")).await;
    let runs: Vec<_> = (0..5)
        .map(|_| {
            let sender = world.runtime().sender();
            tokio::spawn(async move { sender.event("Go", json!({})).await })
        })
        .collect();
    world.gate.called(1).await;
    world.gate.open();
    for run in runs {
        joined(run).await.unwrap();
    }
    world.settle().await;
    assert_eq!((world.gate.calls(), world.gate.most()), (5, 1));
}

#[tokio::test]
async fn whoever_does_not_get_a_turn_in_time_is_told_so() {
    let mut options = Options::default();
    options.patience = std::time::Duration::from_millis(5);
    let world = World::with(|builder| builder.options(options)).await;
    world
        .publish(workflow("w").root(call("stay", "gate")))
        .await;
    let running = world.spawn_start("a", of("w"));
    world.gate.called(1).await;
    let busy = soon(world.client("a").run(Run::at(Target::Continue))).await;
    assert_eq!(kind(busy), ErrorKind::Busy);
    world.gate.open();
    joined(running).await.unwrap();
}

/// On real workers: many events for one instance that waits for them in a loop.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_thousand_events_arrive_on_real_workers_and_each_is_delivered_once() {
    let (store, _place) = fresh_store().await;
    let runtime = RuntimeBuilder::new(store).build();
    soon(runtime.start()).await.unwrap();
    let body = sequence(
        "body",
        [
            event("wait", "Go").into("got"),
            set_variable("add", "sum", expr("sum + got.value")),
            set_variable("one", "count", expr("count + 1")),
        ],
    );
    let built = workflow("w")
        .variable("got", ())
        .variable("sum", 0)
        .variable("count", 0);
    let built = built
        .root(while_("again", expr("count < 1000"), body))
        .build()
        .unwrap();
    soon(runtime.definitions().publish(built)).await.unwrap();
    let mut events = runtime.events();
    let (client, id) = (runtime.client(Some(instance("a"))), instance("a"));
    soon(client.create_and_run(CreateAndRun::new(of("w"))))
        .await
        .unwrap();
    let sent = (0..10).map(|lane| {
        let sender = runtime.sender();
        tokio::spawn(async move {
            for number in (lane * 100 + 1)..=(lane * 100 + 100) {
                sender.event("Go", json!(number)).await.unwrap();
            }
        })
    });
    for lane in sent.collect::<Vec<_>>() {
        joined(lane).await;
    }
    crate::support::reaches(&**runtime.store(), &mut events, &id, SubStatus::Finished).await;
    let state = crate::support::state(&**runtime.store(), &id).await;
    assert_eq!(state.variables["sum"], json!(500_500));
    assert!(soon(runtime.store().waiting()).await.unwrap().is_empty());
    soon(runtime.drain()).await;
}
