//! A process that runs workflows on the store at a URL, does as it is told, and waits to be killed.
//!
//! Orders on standard input, one in a line: a number and an order in JSON. Answers on standard output: `ready`, then
//! the number with `done` or with what went wrong. `memory` is answered with the kilobytes it has in memory.

use lockwork::runtime::{Options, RuntimeBuilder};
use lockwork_conformance::workflows::{Orders, definitions, jobs, registry};
use std::{error::Error, time::Duration};

#[tokio::main(worker_threads = 2)]
async fn main() -> Result<(), Box<dyn Error>> {
    let url = std::env::args().nth(1).ok_or("usage: workflow-node URL")?;
    tracing_subscriber::fmt()
        .with_max_level(tracing::Level::ERROR)
        .with_writer(std::io::stderr)
        .init();
    let mut options = Options::default();
    options.hold = Duration::from_secs(1);
    let store = lockwork::store::connect(&url).await?;
    let builder = RuntimeBuilder::new(store).registry(registry());
    let runtime = jobs(builder).options(options).build();
    for definition in definitions()? {
        runtime.definitions().publish(definition).await?;
    }
    runtime.start().await?;
    Orders::read(&runtime).await
}
