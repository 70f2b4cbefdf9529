//! The two workflows, and instances of them.

use crate::cell::Outcome;
use lockwork::{
    flow::{Definition, build::*},
    runtime::{LocalRuntime, MemoryStore, RuntimeBuilder},
    workflow::{BookmarkId, Create, CreateAndRun, DefinitionHandle, InstanceId, Result, Runtime},
};
use serde_json::json;
use std::sync::Arc;

/// Waits for an event of its own, sets two variables, and waits again.
pub(super) fn waiting() -> Result<Definition> {
    workflow("order")
        .input("order")
        .variable("state", "ordered")
        .variable("total", 0)
        .root(sequence(
            "main",
            [
                event("paid", text("{{ input.order }}")),
                set_variable("state", "state", "paid"),
                set_variable("total", "total", 30),
                event("shipped", "Shipped"),
            ],
        ))
        .build()
}

/// Sets three variables.
pub(super) fn short() -> Result<Definition> {
    let set = |id: &str| set_variable(id, id, 1);
    workflow("short")
        .variable("a", 0)
        .variable("b", 0)
        .variable("c", 0)
        .root(sequence("main", [set("a"), set("b"), set("c")]))
        .build()
}

/// A runtime with a published workflow.
pub(super) async fn runtime(definition: Definition) -> Result<(LocalRuntime, DefinitionHandle)> {
    let runtime = RuntimeBuilder::new(Arc::new(MemoryStore::new())).build();
    let published = runtime.definitions().publish(definition).await?;
    Ok((runtime, DefinitionHandle::Version(published.id)))
}

/// An instance of [`waiting`] that waits for the event called `order`.
pub(super) async fn placed(
    runtime: &LocalRuntime,
    handle: &DefinitionHandle,
    order: &str,
) -> Outcome<(InstanceId, BookmarkId)> {
    let mut create = Create::new(handle.clone());
    create.input.insert("order".to_owned(), json!(order));
    let client = runtime.client(None);
    let ran = client.create_and_run(CreateAndRun::new(create)).await?;
    let bookmark = ran.bookmarks.first().ok_or("an order waits")?;
    Ok((ran.instance, bookmark.id.clone()))
}
