//! The one function that definitions can call on a node of this command, for trying things: it stands for work that a
//! program of yours would do.

use lockwork::{
    flow::{Coded, Registry},
    workflow::{Failure, Value},
};
use std::time::Duration;

/// The instance is locked meanwhile, so a function is short.
const LONGEST: u64 = 5_000;

/// All activities, and `work`.
pub(crate) fn registry() -> Registry {
    Registry::standard().code("work", work)
}

/// Takes `ms` milliseconds.
async fn work(call: Coded) -> Result<Value, Failure> {
    let ms = call.args.get("ms").and_then(Value::as_u64);
    let ms = ms.filter(|ms| *ms <= LONGEST).ok_or_else(|| {
        let message = format!("`work` is given `ms`, {LONGEST} at most");
        Failure::new("work.length", message)
    })?;
    tokio::time::sleep(Duration::from_millis(ms)).await;
    Ok(Value::Null)
}
