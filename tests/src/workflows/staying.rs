//! Steps in which a node stays until something happens to it.

use lockwork::{
    flow::{Commit, Definition, Registry, build::*},
    workflow::{Result, Value},
};
use std::time::Duration;

/// Says that it has begun, stays where it is told to, and says that it is done.
///
/// # Errors
/// None, unless the builder of definitions has changed.
pub fn staying() -> Result<Definition> {
    let steps = [
        log("begun", "begun"),
        call("stay", "stay"),
        log("done", "done"),
    ];
    let root = sequence("main", steps);
    workflow("staying").commit(Commit::Step).root(root).build()
}

/// The function that takes as long as this.
#[must_use]
pub fn stay(registry: Registry, long: Duration) -> Registry {
    registry.code("stay", move |_| async move {
        tokio::time::sleep(long).await;
        Ok(Value::Null)
    })
}
