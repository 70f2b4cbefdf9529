//! What the instances do: wait for signals, timers, children, jobs and people, fail, and try again.

use lockwork::{
    flow::{Coded, Commit, Definition, Registry, Retry, build::*},
    runtime::{JobCall, RuntimeBuilder},
    workflow::{Failure, Result, Value},
};
use serde_json::json;
use std::time::Duration;

/// An order, with one commit for each burst and with one for each step, and what an order starts.
///
/// # Errors
/// None, unless the builder of definitions has changed.
pub fn definitions() -> Result<Vec<Definition>> {
    let order = |id: &str, commit| {
        let order = workflow(id).input("order").input("pause").input("failures");
        let order = order.input("bad").variable("paid", ()).variable("boxes", 0);
        order.commit(commit).root(main()).build()
    };
    Ok(vec![
        order("order", Commit::Burst)?,
        order("order-by-steps", Commit::Step)?,
        bill()?,
        line()?,
    ])
}

fn main() -> Draft {
    let parts = [waits(), fails(), children(), rings(), ends()];
    sequence("main", parts)
}

/// A signal for its correlation, and a timer.
fn waits() -> Draft {
    let number = correlate("number", text("order-{{ input.order }}"));
    let paid = event("paid", "Paid").into("paid");
    let packing = delay("packing", text("{{ input.pause }}ms"));
    sequence("waits", [number, paid, packing])
}

/// A function that fails, more often than it is tried again for some, and work that fails the first time for some.
fn fails() -> Draft {
    let again = |times| Retry::new(times, Duration::from_millis(5));
    let charge = call("charge", "charge").with("args", expr("input.failures"));
    let refused = log("refused", text("{{ error.code }}"));
    let charged = try_("charged", charge.retry(again(3))).catch(refused);
    let pack = job("pack", "pack").with("args", expr("input.order"));
    sequence("fails", [charged, pack.retry(again(2)).into("boxes")])
}

/// One that is waited for, and two at once.
fn children() -> Draft {
    let given = json!({ "order": expr("input.order") });
    let bill = execute_workflow("bill", "bill").with("input", given);
    let lines = json!([{ "bad": false }, { "bad": expr("input.bad") }]);
    let lines = bulk_dispatch("lines", "line", lines).with("wait", true);
    sequence("children", [bill, lines])
}

/// An event for itself; and one for which it waits beside a timer that is called off.
fn rings() -> Draft {
    let ring = publish_event("ring", "Rung").with("local", true);
    let shipped = [event("shipped", "Shipped"), delay("patience", "1h")];
    sequence(
        "rings",
        [ring, event("rung", "Rung"), race("either", shipped)],
    )
}

/// Somebody outside for some, and an incident for some.
fn ends() -> Draft {
    let signed = if_("signed", expr("input.order % 3 == 0"));
    let signed = signed.then(run_task("sign", "Sign"));
    let broken = if_("broken", expr("input.bad"));
    let broken = broken.then(fault("break", "order.bad", "it was bad from the beginning"));
    let done = log("done", text("{{ input.order }}: {{ boxes }} boxes"));
    sequence("ends", [signed, broken, done])
}

fn bill() -> Result<Definition> {
    let total = set_output("total", "total", expr("input.order * 3"));
    let root = sequence("main", [delay("printing", "3ms"), total]);
    workflow("bill")
        .input("order")
        .output("total")
        .root(root)
        .build()
}

fn line() -> Result<Definition> {
    let bad = if_("bad", expr("input.bad")).then(fault("broken", "line.bad", "it is broken"));
    let root = sequence("main", [bad, log("picked", "picked")]);
    workflow("line").input("bad").root(root).build()
}

/// The function that fails as often as it is told.
#[must_use]
pub fn registry() -> Registry {
    Registry::standard().code("charge", charge)
}

async fn charge(call: Coded) -> Result<Value, Failure> {
    match attempt(&call.key) < call.args.as_u64().unwrap_or_default() {
        true => Err(Failure::new("card.refused", "the card was refused")),
        false => Ok(Value::Null),
    }
}

/// The work, which takes some milliseconds, and fails the first time for every fifth order.
#[must_use]
pub fn jobs(builder: RuntimeBuilder) -> RuntimeBuilder {
    builder.job("pack", pack)
}

async fn pack(call: JobCall) -> Result<Value, Failure> {
    let order = call.with.as_u64().unwrap_or_default();
    tokio::time::sleep(Duration::from_millis(1 + order % 17)).await;
    match order.is_multiple_of(5) && attempt(&call.key) == 0 {
        true => Err(Failure::new("pack.torn", "the box was torn")),
        false => Ok(json!(order % 7)),
    }
}

/// How often it was tried again on purpose: the end of its key.
fn attempt(key: &str) -> u64 {
    let attempt = key.rsplit(':').next();
    attempt
        .and_then(|text| text.parse().ok())
        .unwrap_or_default()
}
