//! Running programs of the machine, where a node allows it.

use crate::support::{World, of};
use lockwork::flow::{State, build::*};
use lockwork::runtime::RuntimeBuilder;
use lockwork::workflow::SubStatus;
use serde_json::json;
use std::sync::Arc;

async fn run(
    change: impl FnOnce(RuntimeBuilder) -> RuntimeBuilder + Send,
    root: Draft,
) -> Arc<State> {
    let world = World::with(change).await;
    world
        .publish(workflow("w").variable("got", ()).root(root.into("got")))
        .await;
    world.start("a", of("w")).await;
    world.settle().await;
    world.state("a").await
}

fn sh(script: &str) -> Draft {
    shell("sh", "sh").with("args", json!(["-c", script]))
}

#[tokio::test]
async fn no_program_is_run_on_a_node_that_does_not_allow_it() {
    let state = run(|builder| builder, sh("echo hello")).await;
    assert_eq!(state.incidents[0].failure.code, "job.unknown");
}

#[tokio::test]
async fn a_program_gives_its_code_and_what_it_wrote() {
    let root = sh("cat; echo oh >&2; exit 3").with("input", "hello");
    let state = run(RuntimeBuilder::allow_shell, root).await;
    assert_eq!(state.sub_status, SubStatus::Finished);
    assert_eq!(
        state.variables["got"],
        json!({ "code": 3, "output": "hello", "errors": "oh\n" })
    );
}

#[tokio::test]
async fn a_program_that_writes_before_it_has_read_everything_is_not_stuck() {
    let much = "x".repeat(400 * 1024);
    let root = sh("cat").with("input", much.clone()).with("timeout", "20s");
    let state = run(RuntimeBuilder::allow_shell, root).await;
    assert_eq!(state.variables["got"]["output"], json!(much));
}

#[tokio::test]
async fn a_program_that_need_not_read_is_not_made_to() {
    let root = sh("exec true").with("input", "x".repeat(400 * 1024));
    let state = run(RuntimeBuilder::allow_shell, root).await;
    assert_eq!(state.variables["got"]["code"], json!(0));
}

#[tokio::test]
async fn a_program_that_never_stops_writing_is_a_failure() {
    let state = run(
        RuntimeBuilder::allow_shell,
        sh("yes").with("timeout", "20s"),
    )
    .await;
    assert_eq!(state.incidents[0].failure.code, "shell.large");
}

#[tokio::test]
async fn a_program_that_does_not_end_is_ended() {
    let state = run(
        RuntimeBuilder::allow_shell,
        sh("sleep 600").with("timeout", "50ms"),
    )
    .await;
    assert_eq!(state.incidents[0].failure.code, "shell.timeout");
    assert!(state.incidents[0].failure.transient);
}

#[tokio::test]
async fn a_program_that_is_not_there_is_a_failure() {
    let state = run(
        RuntimeBuilder::allow_shell,
        shell("s", "no-such-program-anywhere"),
    )
    .await;
    assert_eq!(state.incidents[0].failure.code, "shell.failed");
}
