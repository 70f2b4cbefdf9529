//! Orders that wait for somebody: `cargo run --features runtime --example order_approval [-- --json]`.
//!
//! One is approved, one is forgotten for three days, and one has a card that is refused. The definition is written in
//! Rust, in `definitions`; with `--json` it is read from the file beside it.

mod definitions;
mod told;

use lockwork::{
    flow::{Definition, Registry},
    runtime::{Driver, LocalRuntime, MemoryStore, RuntimeBuilder, VirtualClock},
    workflow::{Create, CreateAndRun, DefinitionHandle, Failure, InstanceId, Result, Runtime},
};
use serde_json::{Value, json};
use std::{sync::Arc, time::Duration};

const JSON: &str = include_str!("definitions/order_approval.json");

#[tokio::main]
async fn main() -> Result<()> {
    println!("A-17 is approved:");
    let runtime = builder().build();
    runtime.start().await?;
    let order = place(&runtime, "A-17", 30).await?;
    approve(&runtime).await?;
    told::journal(&runtime, &order).await?;
    runtime.drain().await;

    // The clock of these two stands still until they are told that time passes.
    let clock = VirtualClock::default();
    let driver = Driver::new(builder().clock(clock.clone()).build(), clock);
    println!("Nobody looks at B-4:");
    let order = place(driver.runtime(), "B-4", 20).await?;
    driver.advance(Duration::from_secs(3 * 86_400)).await?;
    told::journal(driver.runtime(), &order).await?;

    println!("C-9 is approved, and its card refused:");
    let order = place(driver.runtime(), "C-9", -1).await?;
    approve(driver.runtime()).await?;
    told::journal(driver.runtime(), &order).await
}

/// A runtime with what the definition calls by its name.
fn builder() -> RuntimeBuilder {
    let bank = Registry::standard()
        .code("refund", |_| async { Ok(Value::Null) })
        .code("charge", |call| async move {
            match call.args["amount"].as_i64() {
                Some(amount) if amount > 0 => Ok(json!({ "paid": amount })),
                _ => Err(Failure::new("card.refused", "the card was refused")),
            }
        });
    RuntimeBuilder::new(Arc::new(MemoryStore::new())).registry(bank)
}

async fn place(runtime: &LocalRuntime, order: &str, amount: i64) -> Result<InstanceId> {
    let definition = match std::env::args().nth(1).as_deref() {
        Some("--json") => Definition::from_json(JSON)?,
        _ => definitions::order_approval()?,
    };
    let published = runtime.definitions().publish(definition).await?;
    let input = json!({ "order": order, "amount": amount });
    let create = Create::new(DefinitionHandle::Version(published.id))
        .input(input.as_object().cloned().unwrap_or_default());
    let client = runtime.client(None);
    Ok(client
        .create_and_run(CreateAndRun::new(create))
        .await?
        .instance)
}

async fn approve(runtime: &LocalRuntime) -> Result<()> {
    let approval = json!({ "approved": true });
    runtime
        .sender()
        .event("OrderApproved", approval)
        .await
        .map(drop)
}
