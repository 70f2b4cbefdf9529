//! What somebody outside shall do.

use crate::support::{World, of, soon};
use lockwork::flow::build::*;
use lockwork::workflow::SubStatus;
use serde_json::json;

#[tokio::test]
async fn a_task_that_is_done_resumes_whoever_asked_for_it() {
    let world = World::new().await;
    world
        .publish(
            workflow("w")
                .variable("got", ())
                .root(run_task("pack", "Pack").into("got")),
        )
        .await;
    world.start("a", of("w")).await;
    let tasks = soon(world.store.tasks()).await.unwrap();
    assert_eq!((tasks.len(), tasks[0].name.as_str()), (1, "Pack"));
    let sender = world.runtime().sender();
    soon(sender.task_done(&tasks[0].id, json!({ "boxes": 2 })))
        .await
        .unwrap();
    assert_eq!(
        world.state("a").await.variables["got"],
        json!({ "boxes": 2 })
    );
    assert!(soon(world.store.tasks()).await.unwrap().is_empty());
}

#[tokio::test]
async fn a_task_that_was_called_off_in_the_burst_that_asked_for_it_is_not_listed() {
    let world =
        World::with(|builder| builder.job("long", |_| async { panic!("nobody wants it") })).await;
    let branches = [
        run_task("pack", "Pack"),
        job("job", "long"),
        log("quick", "quick"),
    ];
    world
        .publish(workflow("w").root(race("first", branches)))
        .await;
    world.start("a", of("w")).await;
    assert_eq!(world.status("a").await, SubStatus::Finished);
    assert!(soon(world.store.tasks()).await.unwrap().is_empty());
    assert_eq!(world.settle().await, 0, "the job is not even begun");
}
