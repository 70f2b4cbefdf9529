//! Instances that start others.

use crate::support::{DAY, SECOND, World, instance, kind, of, soon};
use lockwork::flow::{Activation, Parameter, build::*};
use lockwork::runtime::{ErrorKind, store::Filter};
use lockwork::workflow::{Create, CreateAndRun, DefinitionHandle, Parent, Status, SubStatus};
use serde_json::json;

/// Waits for `Go`, and gives back twice what it is given.
fn child() -> Workflow {
    let steps = [
        event("wait", "Go"),
        set_output("twice", "twice", expr("input.n * 2")),
    ];
    workflow("child")
        .input("n")
        .output("twice")
        .root(sequence("all", steps))
}

fn parent(root: Draft) -> Workflow {
    workflow("parent").variable("got", ()).root(root)
}

async fn all(world: &World, id: &str) -> Vec<SubStatus> {
    let filter = Filter {
        definition: Some(crate::support::definition(id)),
        ..Filter::default()
    };
    let all = soon(world.store.list(filter)).await.unwrap();
    all.iter().map(|one| one.state.sub_status).collect()
}

#[tokio::test]
async fn a_parent_that_waits_is_told_how_its_child_ended() {
    let world = World::new().await;
    world.publish(child()).await;
    let waits = dispatch("child", "child")
        .with("input", json!({ "n": 4 }))
        .with("wait", true);
    world.publish(parent(waits.into("got"))).await;
    world.start("p", of("parent")).await;
    world.settle().await;
    assert_eq!(world.status("p").await, SubStatus::Suspended);
    world.event("Go", json!({})).await;
    world.settle().await;
    let state = world.state("p").await;
    assert_eq!(state.sub_status, SubStatus::Finished);
    assert_eq!(state.variables["got"]["output"], json!({ "twice": 8 }));
    assert_eq!(state.variables["got"]["status"], json!("finished"));
    let child = state.variables["got"]["instance"]
        .as_str()
        .unwrap()
        .to_owned();
    let child = world.state(&child).await;
    assert_eq!(child.parent.as_ref().unwrap().instance, instance("p"));
}

#[tokio::test]
async fn a_parent_that_does_not_wait_is_over_before_its_child() {
    let world = World::new().await;
    world.publish(child()).await;
    let goes_on = dispatch("child", "child").with("input", json!({ "n": 4 }));
    world.publish(parent(goes_on.into("got"))).await;
    assert_eq!(
        world.start("p", of("parent")).await.sub_status,
        SubStatus::Finished
    );
    world.settle().await;
    assert_eq!(all(&world, "child").await, [SubStatus::Suspended]);
    world.event("Go", json!({})).await;
    assert_eq!(world.settle().await, 0, "nobody is told");
    assert_eq!(all(&world, "child").await, [SubStatus::Finished]);
    assert!(world.waiting().await.is_empty());
}

#[tokio::test]
async fn a_workflow_that_is_executed_gives_its_output_and_fails_its_caller() {
    let world = World::new().await;
    let ends = if_("ends", expr("input.well"))
        .then(set_output("o", "answer", 42))
        .otherwise(fault("no", "no", "no"));
    world
        .publish(workflow("child").output("answer").root(ends))
        .await;
    let executes =
        execute_workflow("child", "child").with("input", json!({ "well": expr("input.well") }));
    world.publish(parent(executes.into("got"))).await;
    for (id, well) in [("good", true), ("bad", false)] {
        let input = crate::support::values(json!({ "well": well }));
        world.start(id, of("parent").input(input)).await;
    }
    world.settle().await;
    assert_eq!(
        world.state("good").await.variables["got"],
        json!({ "answer": 42 })
    );
    let bad = world.state("bad").await;
    assert_eq!(bad.sub_status, SubStatus::Faulted);
    assert_eq!(bad.incidents[0].failure.code, "workflow.failed");
}

#[tokio::test]
async fn two_hundred_children_are_joined_exactly() {
    let world = World::new().await;
    world
        .publish(
            workflow("child")
                .root(if_("bad", expr("input.item % 10 == 0")).then(fault("no", "no", "no"))),
        )
        .await;
    let items: Vec<_> = (0..200).collect();
    let bulk = bulk_dispatch("all", "child", json!(items))
        .with("wait", true)
        .activity("faulted", call("count", "note"))
        .into("got");
    world.publish(parent(bulk)).await;
    world.start("p", of("parent")).await;
    world.settle().await;
    let state = world.state("p").await;
    assert_eq!(state.sub_status, SubStatus::Finished);
    assert_eq!(state.variables["got"]["completed"], json!(180));
    assert_eq!(state.variables["got"]["faulted"], json!(20));
    assert_eq!(world.notes.all().len(), 20);
    assert_eq!(all(&world, "child").await.len(), 200);
    assert!(world.waiting().await.is_empty());
}

#[tokio::test]
async fn children_of_a_list_without_items_are_joined_at_once() {
    let world = World::new().await;
    world.publish(child()).await;
    world
        .publish(parent(
            bulk_dispatch("all", "child", json!([])).with("wait", true),
        ))
        .await;
    assert_eq!(
        world.start("p", of("parent")).await.sub_status,
        SubStatus::Finished
    );
}

#[tokio::test]
async fn a_child_of_what_is_not_defined_fails_its_parent() {
    let world = World::new().await;
    for (id, root) in [
        ("one", dispatch("child", "nothing")),
        ("two", execute_workflow("child", "nothing")),
        ("three", bulk_dispatch("child", "nothing", json!([1]))),
    ] {
        world.publish(workflow(id).root(root)).await;
        assert_eq!(
            world.start(id, of(id)).await.sub_status,
            SubStatus::Faulted,
            "{id}"
        );
    }
    assert_eq!((world.settle().await, world.count().await), (0, 3));
}

#[tokio::test]
async fn a_parent_that_asks_again_for_a_child_that_is_over_is_told_at_once() {
    let world = World::new().await;
    let row = world
        .publish(workflow("child").output("o").root(set_output("o", "o", 7)))
        .await;
    world
        .publish(parent(
            dispatch("child", "child").with("wait", true).into("got"),
        ))
        .await;
    world.start("p", of("parent")).await;
    // The child is started and over before anybody does what the parent has asked for.
    let parent = Parent {
        instance: instance("p"),
        waiting: Some(world.state("p").await.bookmarks[0].execution.clone()),
    };
    let create = Create::new(DefinitionHandle::Version(row.id)).parent(parent);
    let client = world.client("p.2");
    soon(client.create_and_run(CreateAndRun::new(create)))
        .await
        .unwrap();
    world.settle().await;
    let state = world.state("p").await;
    assert_eq!(state.sub_status, SubStatus::Finished);
    assert_eq!(state.variables["got"]["output"], json!({ "o": 7 }));
    assert_eq!(world.count().await, 2);
}

#[tokio::test]
async fn a_child_whose_end_comes_before_its_parent_waits_is_not_forgotten() {
    let world = World::new().await;
    let row = world.publish(workflow("child").root(log("l", "l"))).await;
    let root = sequence(
        "all",
        [
            event("wait", "Go"),
            dispatch("child", "child").with("wait", true),
        ],
    );
    world.publish(parent(root)).await;
    world.start("p", of("parent")).await;
    // Nobody waits yet, and not for a long time.
    let waiting = lockwork::workflow::ExecutionId::numbered(4);
    let told = Parent {
        instance: instance("p"),
        waiting: Some(waiting),
    };
    let create = Create::new(DefinitionHandle::Version(row.id)).parent(told);
    world.start("early", create).await;
    world.settle().await;
    world.clock.advance(DAY * 30);
    soon(world.runtime().purger().purge()).await.unwrap();
    world.event("Go", json!({})).await;
    world.settle().await;
    assert_eq!(world.status("p").await, SubStatus::Finished);
}

#[tokio::test]
async fn a_parent_does_not_wait_for_a_child_that_may_not_run_beside_another() {
    let world = World::new().await;
    world
        .publish(
            workflow("child")
                .activation(Activation::Single)
                .root(event("wait", "Go")),
        )
        .await;
    world
        .publish(parent(execute_workflow("child", "child")))
        .await;
    world.start("other", of("child")).await;
    world.start("p", of("parent")).await;
    world.settle().await;
    assert_eq!(world.status("p").await, SubStatus::Faulted);
}

#[tokio::test]
async fn a_parent_does_not_wait_for_a_child_that_cannot_be_created() {
    let world = World::new().await;
    let needs = workflow("child").input(Parameter::new("n").required());
    world.publish(needs.root(log("l", "l"))).await;
    world
        .publish(parent(execute_workflow("child", "child")))
        .await;
    world.start("p", of("parent")).await;
    world.advance(SECOND * 60).await;
    assert_eq!(world.status("p").await, SubStatus::Faulted);
    assert_eq!(
        soon(world.runtime().dead_letters().list())
            .await
            .unwrap()
            .len(),
        1
    );
}

#[tokio::test]
async fn a_parent_is_told_when_somebody_cancels_its_child() {
    let world = World::new().await;
    world.publish(child()).await;
    world
        .publish(parent(
            execute_workflow("child", "child").with("input", json!({ "n": 1 })),
        ))
        .await;
    world.start("p", of("parent")).await;
    world.settle().await;
    soon(world.client("p.2").cancel()).await.unwrap();
    world.settle().await;
    assert_eq!(world.state("p").await.sub_status.status(), Status::Finished);
    let missing = soon(world.client("p.3").cancel()).await;
    assert_eq!(kind(missing), ErrorKind::NotFound);
}
