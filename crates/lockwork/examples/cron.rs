//! A year in which something happens every night: `cargo run --features runtime --example cron`.
//!
//! The clock is a virtual one, so the year takes as long as the work in it. That of Berlin is set forward in spring and
//! back in autumn, and there are as many nights as days nevertheless.

use lockwork::{
    flow::Definition,
    runtime::{Clock, Driver, MemoryStore, RuntimeBuilder, VirtualClock, store::Filter},
    workflow::Result,
};
use std::{
    sync::Arc,
    time::{Duration, Instant},
};

const NIGHTLY: &str = include_str!("definitions/cron.json");
const DAY: Duration = Duration::from_secs(86_400);

#[tokio::main]
async fn main() -> Result<()> {
    let clock = VirtualClock::default();
    let runtime = RuntimeBuilder::new(Arc::new(MemoryStore::new()))
        .clock(clock.clone())
        .build();
    runtime
        .definitions()
        .publish(Definition::from_json(NIGHTLY)?)
        .await?;
    let driver = Driver::new(runtime, clock.clone());

    let (begun, new_year) = (Instant::now(), clock.now());
    for quarter in 1..=4 {
        driver.advance(DAY * 365 / 4).await?;
        let all = driver.runtime().store().list(Filter::default()).await?;
        println!("after quarter {quarter}: {} nights", all.len());
    }
    let passed = clock.now().since(new_year).as_secs() / DAY.as_secs();
    println!("{passed} days passed in {} ms", begun.elapsed().as_millis());
    Ok(())
}
