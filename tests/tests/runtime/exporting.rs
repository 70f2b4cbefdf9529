//! Giving instances out, and taking them in.

use crate::support::{DAY, World, instance, joined, kind, of, soon, values};
use lockwork::flow::{Activation, Commit, Parameter, build::*};
use lockwork::runtime::ErrorKind;
use lockwork::workflow::{SubStatus, Value};
use serde_json::json;

async fn export(world: &World, id: &str) -> Value {
    soon(world.client(id).export()).await.unwrap()
}

async fn import(world: &World, id: &str, export: Value) {
    soon(world.client(id).import(export)).await.unwrap();
}

#[tokio::test]
async fn what_is_given_out_and_taken_in_elsewhere_goes_on_there() {
    let (here, there) = (World::new().await, World::new().await);
    let root = sequence(
        "all",
        [
            event("wait", "Go").into("got"),
            log("on", text("{{ got.n }}")),
        ],
    );
    let waits = workflow("w").variable("got", ()).root(root);
    here.publish(waits.clone()).await;
    there.publish(waits).await;
    here.start("a", of("w").correlation("c")).await;
    import(&there, "b", export(&here, "a").await).await;
    let (old, new) = (here.state("a").await, there.state("b").await);
    assert_eq!(new.correlation, old.correlation);
    there.event("Go", json!({ "n": 7 })).await;
    assert_eq!(there.logged("b").await, ["7"]);
    assert_eq!(there.status("b").await, SubStatus::Finished);
}

#[tokio::test]
async fn an_export_that_is_taken_in_again_changes_nothing() {
    let world = World::new().await;
    world.publish(workflow("w").root(event("wait", "Go"))).await;
    world.start("a", of("w")).await;
    let (before, given) = (world.state("a").await, export(&world, "a").await);
    import(&world, "a", given).await;
    assert_eq!(world.state("a").await, before);
    let reached = world.event("Go", json!({})).await;
    assert_eq!(reached.resumed.len(), 1, "its bookmark is there once");
}

#[tokio::test]
async fn what_is_taken_in_makes_the_instance_what_it_was() {
    let world = World::new().await;
    let root = sequence("all", [event("one", "One"), event("two", "Two")]);
    world.publish(workflow("w").root(root)).await;
    world.start("a", of("w")).await;
    let earlier = export(&world, "a").await;
    world.event("One", json!({})).await;
    import(&world, "a", earlier).await;
    assert!(
        world.event("Two", json!({})).await.queued,
        "it waits for the first again"
    );
    assert_eq!(world.event("One", json!({})).await.resumed.len(), 1);
}

#[tokio::test]
async fn what_happened_before_an_instance_is_taken_in_stays_in_its_journal() {
    let world = World::new().await;
    let root = sequence("all", [event("one", "One"), event("two", "Two")]);
    world.publish(workflow("w").root(root)).await;
    world.start("a", of("w")).await;
    let earlier = export(&world, "a").await;
    world.event("One", json!({})).await;
    let before = world.store.journal(&instance("a"), 0).await.unwrap();
    import(&world, "a", earlier).await;
    world.event("One", json!({})).await;
    let after = world.store.journal(&instance("a"), 0).await.unwrap();
    assert_eq!(after[..before.len()], before);
    assert!(after.len() > before.len());
    for (number, entry) in (0..).zip(&after) {
        assert_eq!(entry.sequence, number, "{entry:?}");
    }
}

#[tokio::test]
async fn whoever_works_on_an_instance_that_is_taken_in_is_fenced_off() {
    let world = World::new().await;
    let root = sequence("all", [event("wait", "Go"), call("stay", "gate")]);
    world.publish(workflow("w").root(root)).await;
    world.start("a", of("w")).await;
    let given = export(&world, "a").await;
    let (resumer, at) = (world.runtime().resumer(), world.bookmark("a").await);
    let running =
        tokio::spawn(async move { resumer.resume(&instance("a"), at, values(json!({}))).await });
    world.gate.called(1).await;
    import(&world, "a", given).await;
    world.gate.open();
    assert_eq!(kind(joined(running).await), ErrorKind::Fenced);
    assert_eq!(world.status("a").await, SubStatus::Suspended);
    assert_eq!(world.event("Go", json!({})).await.resumed.len(), 1);
}

#[tokio::test]
async fn what_a_newer_version_has_given_out_is_not_supported() {
    let world = World::new().await;
    world.publish(workflow("w").root(event("wait", "Go"))).await;
    world.start("a", of("w")).await;
    let client = world.client("b");
    let unlike = json!({ "lockwork": 2, "instance": {} });
    assert_eq!(
        kind(soon(client.import(unlike)).await),
        ErrorKind::Unsupported
    );
    let mut newer = export(&world, "a").await;
    newer["state"]["format"] = json!(99);
    assert_eq!(
        kind(soon(client.import(newer)).await),
        ErrorKind::Unsupported
    );
}

#[tokio::test]
async fn what_is_no_export_is_invalid() {
    let world = World::new().await;
    for nonsense in [
        json!(null),
        json!({}),
        json!({ "lockwork": 1 }),
        json!({ "lockwork": 1, "state": [] }),
    ] {
        let refused = soon(world.client("a").import(nonsense)).await;
        assert_eq!(kind(refused), ErrorKind::Invalid);
    }
    assert!(!world.exists("a").await);
}

#[tokio::test]
async fn an_export_of_what_is_not_defined_here_is_not_taken_in() {
    let (here, there) = (World::new().await, World::new().await);
    here.publish(workflow("w").root(event("wait", "Go"))).await;
    here.start("a", of("w")).await;
    let given = export(&here, "a").await;
    let refused = soon(there.client("a").import(given)).await;
    assert_eq!(kind(refused), ErrorKind::NotFound);
}

#[tokio::test]
async fn no_secret_is_given_out() {
    let world = World::new().await;
    let login = workflow("w")
        .input(Parameter::new("password").secret())
        .secret_variable("token", ())
        .variable("copy", ());
    let root = sequence(
        "all",
        [
            set_variable("keep", "token", expr("input.password")),
            event("wait", "Go"),
        ],
    );
    world.publish(login.root(root)).await;
    let input = values(json!({ "password": "hunter2hunter2" }));
    world.start("a", of("w").input(input)).await;
    let given = export(&world, "a").await.to_string();
    assert!(!given.contains("hunter2"), "{given}");
}

#[tokio::test]
async fn a_job_and_a_task_are_still_wanted_when_their_instance_is_taken_in_again() {
    let world = World::with(|builder| builder.job("long", |_| async { Ok(json!("done")) })).await;
    let waits = [job("job", "long"), run_task("task", "pack")];
    world
        .publish(workflow("w").root(parallel("all", waits)))
        .await;
    world.start("a", of("w")).await;
    let given = export(&world, "a").await;
    import(&world, "a", given).await;
    world.settle().await;
    let tasks = soon(world.store.tasks()).await.unwrap();
    assert_eq!(tasks.len(), 1);
    let done = world.runtime().sender();
    soon(done.task_done(&tasks[0].id, json!({}))).await.unwrap();
    assert_eq!(world.status("a").await, SubStatus::Finished);
}

#[tokio::test]
async fn what_was_stopped_half_way_goes_on_where_it_is_taken_in() {
    let (here, there) = (World::new().await, World::new().await);
    let root = sequence("all", [call("wait", "gate"), log("on", "on")]);
    let steps = workflow("w").commit(Commit::Step).root(root);
    here.publish(steps.clone()).await;
    there.publish(steps).await;
    let running = here.spawn_start("a", of("w"));
    here.gate.called(1).await;
    let given = export(&here, "a").await;
    there.gate.open();
    import(&there, "a", given).await;
    there.advance(DAY).await;
    assert_eq!(there.status("a").await, SubStatus::Finished);
    here.gate.open();
    joined(running).await.unwrap();
}

#[tokio::test]
async fn a_place_is_free_when_what_is_taken_in_is_over() {
    let world = World::new().await;
    let one = workflow("w").activation(Activation::Single);
    world.publish(one.root(event("wait", "Go"))).await;
    world.start("a", of("w")).await;
    world.event("Go", json!({})).await;
    let over = export(&world, "a").await;
    world.start("b", of("w")).await;
    import(&world, "b", over).await;
    assert_eq!(world.status("b").await, SubStatus::Finished);
    world.start("c", of("w")).await;
}
