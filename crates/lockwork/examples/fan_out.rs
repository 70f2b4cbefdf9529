//! Many lines, each priced by an instance of its own: `cargo run --features runtime --example fan_out [LINES]`.
//!
//! `fan-out` starts an instance of `price-one` for each line, waits for all of them, and adds up what they give.

use lockwork::{
    flow::Definition,
    runtime::{MemoryStore, RuntimeBuilder},
    workflow::{Create, CreateAndRun, DefinitionHandle, Result, Runtime, Status},
};
use serde_json::json;
use std::{sync::Arc, time::Instant};

const DEFINITIONS: [&str; 2] = [
    include_str!("definitions/price_one.json"),
    include_str!("definitions/fan_out.json"),
];

#[tokio::main]
async fn main() -> Result<()> {
    let lines = std::env::args()
        .nth(1)
        .and_then(|lines| lines.parse().ok())
        .unwrap_or(100);
    let definitions = DEFINITIONS
        .map(Definition::from_json)
        .into_iter()
        .collect::<Result<Vec<_>>>()?;
    let store = Arc::new(MemoryStore::new());
    let runtime = RuntimeBuilder::new(store).provider(definitions).build();
    runtime.start().await?;
    let mut events = runtime.events();

    let begun = Instant::now();
    let lines: Vec<_> = (1..=lines)
        .map(|n| json!({ "quantity": n, "unit": 2 }))
        .collect();
    let mut create = Create::new(DefinitionHandle::published("fan-out".parse()?));
    create.input.insert("lines".into(), lines.into());
    let ran = runtime
        .client(None)
        .create_and_run(CreateAndRun::new(create))
        .await?;
    println!("{} waits for those that price its lines", ran.instance);

    let over = loop {
        let record = runtime.store().load(&ran.instance).await?;
        let state = record.expect("it was created").state;
        if state.sub_status.status() == Status::Finished {
            break state;
        }
        // Told of something, or of having missed some: either way it is time to look.
        let _ = events.recv().await;
    };
    let millis = begun.elapsed().as_millis();
    println!("all lines cost {}, after {millis} ms", over.output["total"]);
    runtime.drain().await;
    Ok(())
}
