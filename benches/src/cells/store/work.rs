//! The workflows, and instances of them.

use crate::cell::Outcome;
use lockwork::{
    flow::{Commit, Definition, build::*},
    runtime::{LocalRuntime, RuntimeBuilder, Store},
    workflow::{
        BookmarkId, Create, CreateAndRun, DefinitionHandle, InstanceId, Result, Runtime, SubStatus,
    },
};
use serde_json::json;
use std::sync::Arc;

/// Sets three variables.
pub(super) fn three_steps(commit: Commit) -> Result<Definition> {
    let set = |id: &str| set_variable(id, id, 1);
    workflow(match commit {
        Commit::Burst => "three-steps",
        Commit::Step => "three-commits",
    })
    .variable("a", 0)
    .variable("b", 0)
    .variable("c", 0)
    .commit(commit)
    .root(sequence("main", [set("a"), set("b"), set("c")]))
    .build()
}

/// Waits for an event of its own, sets a variable, and is over.
pub(super) fn waiting() -> Result<Definition> {
    let paid = event("paid", text("{{ input.order }}"));
    workflow("waiting")
        .input("order")
        .variable("state", "ordered")
        .root(sequence(
            "main",
            [paid, set_variable("state", "state", "paid")],
        ))
        .build()
}

/// A node that was started, and the workflow, published there.
pub(super) async fn node(
    store: Arc<dyn Store>,
    definition: Definition,
) -> Outcome<(LocalRuntime, DefinitionHandle)> {
    let runtime = RuntimeBuilder::new(store).build();
    let published = runtime.definitions().publish(definition).await?;
    runtime.start().await?;
    Ok((runtime, DefinitionHandle::Version(published.id)))
}

/// One instance from its beginning to its end.
pub(super) async fn whole(runtime: &LocalRuntime, handle: DefinitionHandle) -> Outcome<()> {
    let create = CreateAndRun::new(Create::new(handle));
    let ran = runtime.client(None).create_and_run(create).await?;
    over(ran.sub_status)
}

/// An instance of [`waiting`] that waits for the event called `order`.
pub(super) async fn placed(
    runtime: &LocalRuntime,
    handle: DefinitionHandle,
    order: &str,
) -> Outcome<(InstanceId, BookmarkId)> {
    let mut create = Create::new(handle);
    create.input.insert("order".to_owned(), json!(order));
    let client = runtime.client(None);
    let ran = client.create_and_run(CreateAndRun::new(create)).await?;
    let bookmark = ran.bookmarks.first().ok_or("an order waits")?;
    Ok((ran.instance, bookmark.id.clone()))
}

pub(super) fn over(found: SubStatus) -> Outcome<()> {
    match found {
        SubStatus::Finished => Ok(()),
        other => Err(format!("it should be over, and is {other:?}").into()),
    }
}
