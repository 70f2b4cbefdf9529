//! Two tasks, one lock: `cargo run --release --example critical_section [URL]`.
//!
//! Each task counts to three under the lock. Without it their lines would mix; with it they do
//! not. The same program keeps two processes or two machines apart once URL names a backend that
//! reaches them.

use lockwork::{Locks, Result};
use std::time::Duration;

#[tokio::main]
async fn main() -> Result<()> {
    let url = std::env::args().nth(1).unwrap_or_else(|| "memory:".into());
    let locks = lockwork::connect(&url).await?;
    let (anna, ben) = (
        tokio::spawn(count("anna", locks.clone())),
        tokio::spawn(count("ben", locks)),
    );
    anna.await.expect("anna does not panic")?;
    ben.await.expect("ben does not panic")?;
    println!("both are done, and neither was interrupted");
    Ok(())
}

async fn count(who: &'static str, locks: Locks) -> Result<()> {
    println!("{who} asks for the lock");
    let guard = locks.mutex("counter").lock().await?;
    let token = guard
        .token()
        .map(|token| token.to_string())
        .unwrap_or_default();
    println!("{who} holds the lock, token {token}");
    guard
        .run(async {
            for number in 1..=3 {
                tokio::time::sleep(Duration::from_millis(50)).await;
                println!("{who} counts {number}");
            }
        })
        .await?;
    guard.release().await
}
