//! One leader among several candidates: `cargo run --release --example leader_election [URL]`.
//!
//! Whoever holds the lock leads. When the leader goes, the next candidate takes over; its token is
//! higher, so that orders of the old leader can be told from orders of the new one.

use lockwork::{Locks, Result};
use std::time::Duration;
use tokio::task::JoinSet;

#[tokio::main]
async fn main() -> Result<()> {
    let url = std::env::args().nth(1).unwrap_or_else(|| "memory:".into());
    let locks = lockwork::connect(&url).await?;
    let mut candidates = JoinSet::new();
    for name in ["anna", "ben", "carl"] {
        candidates.spawn(campaign(name, locks.clone()));
    }
    while let Some(ended) = candidates.join_next().await {
        ended.expect("a candidate does not panic")?;
    }
    Ok(())
}

async fn campaign(name: &'static str, locks: Locks) -> Result<()> {
    let leadership = locks.mutex("leader").lock().await?;
    println!(
        "{name} leads, term {}",
        leadership.token().expect("an exclusive grant has a token")
    );
    // The work of a leader stops by itself if the leadership is lost.
    let led = leadership.run(lead(name)).await;
    if let Err(error) = &led {
        println!("{name} was deposed: {error}");
        return Ok(());
    }
    println!("{name} resigns");
    leadership.release().await
}

async fn lead(name: &str) {
    for order in 1..=2 {
        tokio::time::sleep(Duration::from_millis(40)).await;
        println!("{name} gives order {order}");
    }
}
