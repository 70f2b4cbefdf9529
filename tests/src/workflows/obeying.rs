//! The other side of a [`Node`](super::Node): a process that does as it is told.

use super::Order;
use lockwork::runtime::LocalRuntime;
use std::{error::Error, io::Write};
use tokio::io::{AsyncBufReadExt, BufReader};

/// What a process is told to do, on standard input.
#[derive(Debug)]
pub struct Orders;

impl Orders {
    /// Says that it is ready, and does as it is told until nobody tells it anything any more.
    ///
    /// # Errors
    /// If what it is told makes no sense.
    pub async fn read(runtime: &LocalRuntime) -> Result<(), Box<dyn Error>> {
        say("ready")?;
        let mut lines = BufReader::new(tokio::io::stdin()).lines();
        while let Some(line) = lines.next_line().await? {
            match line.as_str() {
                "memory" => say(&memory()?.to_string())?,
                line => begin(runtime, line)?,
            }
        }
        Ok(())
    }
}

/// Obeys beside whatever else it was told.
fn begin(runtime: &LocalRuntime, line: &str) -> Result<(), Box<dyn Error>> {
    let (number, order) = line.split_once(' ').ok_or("an order has a number")?;
    let (number, order) = (number.to_owned(), Order::read(order)?);
    let runtime = runtime.clone();
    tokio::spawn(async move {
        let answer = match order.obey(&runtime).await {
            Ok(()) => format!("{number} done"),
            Err(error) => format!("{number} {error}").replace('\n', " "),
        };
        // Whoever asked is gone: so is this process, soon.
        let _ = say(&answer);
    });
    Ok(())
}

fn say(line: &str) -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{line}")?;
    out.flush()
}

/// The kilobytes this process has in memory, by its own account with the system.
fn memory() -> Result<u64, Box<dyn Error>> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let number = line.and_then(|line| line.split_whitespace().next());
    Ok(number.ok_or("the system does not say")?.parse()?)
}
