//! A store that refuses stale writers: `cargo run --release --example fenced_write`.
//!
//! A lock cannot stop a holder that was frozen in the middle of a write and wakes up later. What
//! the lock protects can: it remembers the highest token it has seen and refuses lower ones.

use lockwork::{LockOptions, Result, Token};
use std::{sync::Mutex, time::Duration};

/// What the lock protects: a value, and the highest token that came with a request.
#[derive(Default)]
struct Store(Mutex<(Option<Token>, String)>);

impl Store {
    /// Registers a holder before it reads, so that whoever held the lock before is out at once,
    /// and not only after the new holder's first write.
    fn claim(&self, token: Option<Token>) -> String {
        let mut store = self.0.lock().expect("no writer panics");
        store.0 = store.0.max(token);
        store.1.clone()
    }

    fn write(&self, token: Option<Token>, value: &str) -> Result<(), String> {
        let mut store = self.0.lock().expect("no writer panics");
        if token < store.0 {
            return Err(format!(
                "refused {value:?}: its writer's lock has been given away"
            ));
        }
        store.1 = value.into();
        Ok(())
    }
}

#[tokio::main]
async fn main() -> Result<()> {
    let (locks, store) = (lockwork::connect("memory:").await?, Store::default());
    let balance = locks.mutex("balance");

    // This holder hangs with the lock in its hands; max_hold takes it away.
    let limit = LockOptions::new().max_hold(Duration::from_millis(50));
    let stale = balance.lock_with(limit).await?.expect("the lock is free");
    let stale_token = stale.token();
    store.claim(stale_token);

    let fresh = balance.lock().await?; // waits until then
    let before = store.claim(fresh.token());
    println!("the next holder reads {before:?} and writes");
    store
        .write(fresh.token(), "100 by the next holder")
        .expect("its token is the highest");

    // The first one wakes up and goes on where it was.
    println!("the first holder's guard is valid: {}", stale.is_valid());
    let refusal = store.write(stale_token, "99 by the first holder");
    println!(
        "the first holder writes: {}",
        refusal.expect_err("its token is lower")
    );
    fresh.release().await
}
